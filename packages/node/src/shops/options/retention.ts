import type { RetentionRule } from '@assay/till/store/retention'

export const optionsRetention: readonly RetentionRule[] = [
  {
    tables: [
      'option_input',
      'option_cluster',
      'option_tick',
      'option_tick_proof',
      'option_series',
      'option_settlement',
      'option_vault',
    ],
    addedBy: 'node',
    kept: 'for ever; inputs and ticks as long as the settings say',
    why: 'the market and its index',
    deletedBy: '`options.delete_old`',
  },
  {
    tables: ['option_order', 'option_bid', 'option_position', 'option_fill', 'option_close', 'option_claim'],
    addedBy: 'payer',
    kept: 'for ever',
    why: 'contracts, each backed by money',
  },
  { tables: ['option_event'], addedBy: 'payer', kept: '730 days', deletedBy: '`store.partitions`' },
]
