import type { RetentionRule } from '@assay/till/store/retention'

export const matchRetention: readonly RetentionRule[] = [
  {
    tables: ['match_page'],
    addedBy: 'node',
    kept: 'while the page is there',
    why: 'pages of a site are limited by `CRAWL`',
    deletedBy: '`citations.match.expire`',
  },
  {
    tables: ['match_query'],
    addedBy: 'payer',
    kept: '90 days',
    why: 'what was searched, for feedback',
    deletedBy: '`citations.match.expire`',
  },
]
