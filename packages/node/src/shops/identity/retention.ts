import type { RetentionRule } from '@assay/till/store/retention'

export const identityRetention: readonly RetentionRule[] = [
  {
    tables: ['agent', 'agent_version', 'agent_signed', 'agent_capability'],
    addedBy: 'anybody',
    kept: 'newest declaration for ever, older ones some days',
    why: 'new ones per network address and day are limited',
    deletedBy: '`identity.versions`',
  },
  {
    tables: ['agent_rating', 'agent_rating_party', 'rating_reversal', 'rating_cursor'],
    addedBy: 'payer',
    kept: 'for ever',
    why: 'sums of what a wallet paid',
  },
]
