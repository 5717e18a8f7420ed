import type { Variables } from '../shop-settings.ts'

export const rewardsVariables = {
  REWARDS: {
    kind: 'json',
    default: '{}',
    description: 'JSON object: tiers, rewards, referral and affiliate rates; docs/commerce.md lists the members.',
    secret: false,
  },
} as const satisfies Variables
