import type { RetentionRule } from '@assay/till/store/retention'

export const royaltiesRetention: readonly RetentionRule[] = [
  { tables: ['royalty_remittance'], addedBy: 'payer', kept: 'for ever' },
]
