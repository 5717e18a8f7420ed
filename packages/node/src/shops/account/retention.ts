import type { RetentionRule } from '@assay/till/store/retention'

export const accountRetention: readonly RetentionRule[] = [
  { tables: ['invoice', 'invoice_payment'], addedBy: 'payer', kept: 'for ever', why: 'tax law' },
]
