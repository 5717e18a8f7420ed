import type { RetentionRule } from '@assay/till/store/retention'

export const rewardsRetention: readonly RetentionRule[] = [
  { tables: ['loyalty', 'referral', 'reward_sale', 'redemption', 'pass'], addedBy: 'payer', kept: 'for ever' },
  {
    tables: ['referral_visit'],
    addedBy: 'anybody',
    kept: 'for ever',
    why: 'only for wallets that have paid once: a made-up name gets no row',
  },
]
