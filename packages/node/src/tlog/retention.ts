import type { RetentionRule } from '@assay/till/store/retention'

export const logRetention: readonly RetentionRule[] = [
  {
    tables: [
      'log_entry',
      'log_tile',
      'log_tree',
      'log_former_head',
      'log_predecessor',
      'log_anchor',
      'log_anchor_scan',
    ],
    addedBy: 'payer',
    kept: 'for ever',
    why: 'a log without its past proves nothing. Free calls append to it within the limits of what they register',
  },
  {
    tables: ['log_checkpoint', 'log_cosignature', 'log_outside_head'],
    addedBy: 'node',
    kept: '30 days, then the last within each 4,096 leaves',
    deletedBy: '`log.heads`',
  },
  {
    tables: ['log_witness_state', 'log_witness_key', 'witness_self', 'log_witness_fork'],
    addedBy: 'anybody',
    kept: 'for ever',
    why: 'a row for each log that a known peer of the mesh has; peers are bounded',
  },
]
