import type { RetentionRule } from '@assay/till/store/retention'

export const tokensRetention: readonly RetentionRule[] = [
  {
    tables: ['token_log_subject', 'token_log', 'token_index', 'token_listed', 'token_policy'],
    addedBy: 'node',
    kept: 'while the token is listed',
    why: 'read from the chain',
    deletedBy: '`tokens.index`',
  },
]
