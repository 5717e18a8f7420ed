import type { RetentionRule } from '@assay/till/store/retention'

export const matrixRetention: readonly RetentionRule[] = [
  {
    tables: [
      'matrix_symbol',
      'matrix_file',
      'matrix_raw',
      'matrix_refusal',
      'matrix_*_block',
      'matrix_snapshot',
      'matrix_quality',
      'matrix_fetch',
      'matrix_publisher',
      'matrix_snapshot_bytes',
      'matrix_snapshot_kept',
      'matrix_alert',
      'matrix_score_day',
      'matrix_score_month',
      'matrix_bulk',
    ],
    addedBy: 'node',
    kept: 'for ever; snapshots the last eight of each feed',
    why: 'data that is sold',
    deletedBy: 'the next snapshot of the feed',
  },
  {
    tables: ['matrix_screen'],
    addedBy: 'anybody',
    kept: '400 days after the last change',
    why: '100 a wallet',
    deletedBy: 'saving a screen',
  },
]
