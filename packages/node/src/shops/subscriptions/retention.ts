import type { RetentionRule } from '@assay/till/store/retention'

export const subscriptionsRetention: readonly RetentionRule[] = [
  {
    tables: [
      'subscription',
      'subscription_purchase',
      'subscription_pause',
      'subscription_renewal',
      'subscription_outage',
      'subscription_look',
      'subscription_extension',
      'subscription_old_token',
      'subscription_usage',
      'stream_process',
      'stream_place',
    ],
    addedBy: 'payer',
    kept: 'for ever; places of streams while they are open',
    deletedBy: 'each process with streams',
  },
]
