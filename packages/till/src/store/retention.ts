/** How long the rows of some tables are kept: a row of docs/retention.md, whose cells are Markdown. */
export type RetentionRule = {
  /** `*` stands for any part of a name. */
  tables: readonly string[]
  /** What a row costs its caller: `anybody` pays nothing, so that there must be a bound. */
  addedBy: 'payer' | 'operator' | 'node' | 'anybody'
  kept: string
  /** Also what bounds the rows. */
  why?: string
  /** The job that does it. Absent: they stay, or are deleted where the thing itself ends. */
  deletedBy?: string
}

export const tillRetention: readonly RetentionRule[] = [
  {
    tables: ['claim', 'transfer', 'ledger_transaction', 'ledger_seal'],
    addedBy: 'payer',
    kept: 'for ever',
    why: 'no payment key, transfer or reference is used twice, and the chain of seals has no gap: [decision 18](decisions/0018-keys-for-ever-rows-by-time.md)',
  },
  {
    tables: ['payment'],
    addedBy: 'payer',
    kept: 'for ever, or `PAYMENTS_KEPT_DAYS` (at least 400), or until [archived](operations.md#archive)',
    why: 'one that came to nothing costs its payer an authorization, and the node at most what the [limits of loss](payments.md) allow',
    deletedBy: '`store.partitions`',
  },
  {
    tables: ['payment_answer'],
    addedBy: 'payer',
    kept: '`ANSWERS_KEPT_DAYS`, 35 days',
    why: 'for buyers who lost theirs',
    deletedBy: '`store.partitions`',
  },
  {
    tables: ['call_answer'],
    addedBy: 'payer',
    kept: '35 days',
    why: 'answers of calls on credit, passes and channels',
    deletedBy: '`store.partitions`',
  },
  {
    tables: ['ledger_entry'],
    addedBy: 'payer',
    kept: 'for ever, or until archived',
    why: 'the books',
    deletedBy: '`assay archive`',
  },
  {
    tables: ['ledger_account', 'ledger_balance', 'books_rollup_account', 'ledger_archived'],
    addedBy: 'payer',
    kept: 'for ever',
    why: 'one row an account',
  },
  {
    tables: [
      'books_rollup_group',
      'books_rollup_day',
      'books_rollup_clearing',
      'books_rollup_payment',
      'payment_count_head',
      'ledger_unsealed',
      'payout_due',
      'balance_check',
    ],
    addedBy: 'node',
    kept: 'while needed',
    why: 'sums, and what waits for a job',
    deletedBy: '`ledger.seal`, `payouts.run`',
  },
  { tables: ['archived_partition'], addedBy: 'operator', kept: 'for ever', why: 'the hashes of what was archived' },
  {
    tables: [
      'app_access',
      'operator_access',
      'personal_data',
      'partitioned_table',
      'schema_migration',
      'ledger_purpose',
    ],
    addedBy: 'node',
    kept: 'for ever',
    why: 'made by migrations',
  },
  {
    tables: [
      'instance',
      'database_identity',
      'pause',
      'own_address',
      'reconcile_cursor',
      'restore_gap',
      'custody_difference',
      'custody_status',
      'withdraw_setting',
      'settlement_wallet',
      'settlement_wallet_count',
      'facilitator_usage',
      'job_lease',
    ],
    addedBy: 'node',
    kept: 'for ever',
    why: 'a row or a few for each network, wallet of the operator, month or job',
  },
  {
    tables: ['keyring', 'key_statement', 'keyring_demo_secret', 'shared_secret', 'token_secret'],
    addedBy: 'operator',
    kept: 'for ever',
    why: 'keys that answers were signed with must stay known',
  },
  {
    tables: ['challenge_secret'],
    addedBy: 'node',
    kept: '8 days',
    why: 'makes challenges for a day, accepted for a week more',
    deletedBy: 'making the next one',
  },
  { tables: ['audit_log'], addedBy: 'operator', kept: 'for ever', why: 'who did what' },
  {
    tables: ['nonce_claim'],
    addedBy: 'anybody',
    kept: 'until the signature that used it has run out, minutes',
    why: 'a nonce is used once',
    deletedBy: '`nonces.purge`',
  },
  {
    tables: ['payer_in_flight'],
    addedBy: 'anybody',
    kept: 'until nothing is in flight',
    why: 'at most a row a payer with a payment under way',
    deletedBy: '`store.remove_idle`',
  },
  {
    tables: ['payment_owner'],
    addedBy: 'node',
    kept: '7 days after its process died',
    deletedBy: '`store.remove_idle`',
  },
  {
    tables: ['settlement_loss'],
    addedBy: 'anybody',
    kept: '30 days',
    why: 'limits of loss per payer and route; those limits bound it',
    deletedBy: '`store.remove_idle`',
  },
  {
    tables: ['refused_payer'],
    addedBy: 'anybody',
    kept: '24 hours',
    why: 'payers that a facilitator does not serve',
    deletedBy: '`store.remove_idle`',
  },
  {
    tables: ['facilitator_hold'],
    addedBy: 'anybody',
    kept: '24 hours',
    why: 'which facilitator was given a payment',
    deletedBy: '`facilitators.expire`',
  },
  {
    tables: ['facilitator_budget'],
    addedBy: 'anybody',
    kept: 'a day',
    why: 'limits of our own facilitator',
    deletedBy: '`facilitators.expire`',
  },
  {
    tables: ['settlement_transaction', 'payout', 'payout_hold', 'withdrawal'],
    addedBy: 'node',
    kept: 'for ever',
    why: 'money that moved, or did not',
  },
  { tables: ['refund', 'payment_dispute'], addedBy: 'payer', kept: 'for ever', why: 'once a payment' },
  {
    tables: ['entitled_call'],
    addedBy: 'payer',
    kept: 'for ever as the record of a sale; its name 30 days; what came to nothing 30 days',
    deletedBy: '`store.remove_idle`',
  },
  {
    tables: ['mandate'],
    addedBy: 'anybody',
    kept: 'for ever if ever drawn on, else 30 days after it ran out (at most 366 days)',
    why: 'signed by the owner of credit',
    deletedBy: '`store.remove_idle`',
  },
  { tables: ['agent_bond', 'bond_slash'], addedBy: 'payer', kept: 'for ever', why: 'money at stake' },
  {
    tables: ['channel', 'channel_sale', 'channel_deposit', 'channel_cursor'],
    addedBy: 'payer',
    kept: 'channels and the newest sale of each for ever; other sales 35 days',
    deletedBy: '`channels.expire`',
  },
]
