import type { RetentionRule } from '@assay/till/store/retention'

export const intentsRetention: readonly RetentionRule[] = [
  {
    tables: ['intent_event'],
    addedBy: 'payer',
    kept: '730 days',
    why: 'what was asked for, in buckets with noise',
    deletedBy: '`store.partitions`',
  },
  {
    tables: ['intent_bucket', 'intent_plan', 'intent_announced', 'intent_budget'],
    addedBy: 'node',
    kept: 'for ever',
    why: 'a row a bucket, a day or a carrier',
  },
  {
    tables: ['intent_spend', 'intent_peer_event'],
    addedBy: 'payer',
    kept: 'some days',
    why: 'counts of who searched how often, and what peers share',
    deletedBy: '`market.intents.close`, `market.intents.peers`',
  },
]
