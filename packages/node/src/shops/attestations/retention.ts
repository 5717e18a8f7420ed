import type { RetentionRule } from '@assay/till/store/retention'

export const attestationsRetention: readonly RetentionRule[] = [
  {
    tables: ['citation_attester'],
    addedBy: 'node',
    kept: 'for ever',
    why: 'a row for each signing key: attestations are shown with it',
  },
  {
    tables: ['attestation', 'cited_page', 'cited_text'],
    addedBy: 'payer',
    kept: 'for ever; texts without a paid stamp a day',
    deletedBy: '`citations.prune`',
  },
  {
    tables: [
      'creator_accrual',
      'creator_setting',
      'creator_root',
      'creator_leaf',
      'creator_balance',
      'creator_claim',
      'creator_cursor',
      'creator_move',
      'creator_waiting',
      'creator_distributor',
      'creator_root_scan',
    ],
    addedBy: 'payer',
    kept: 'for ever',
    why: 'money owed to creators',
  },
  {
    tables: ['funding_wallet', 'funding_edge', 'funding_partial', 'funding_hub'],
    addedBy: 'payer',
    kept: 'for ever',
    why: 'who funded wallets that cite, from the chain',
  },
]
