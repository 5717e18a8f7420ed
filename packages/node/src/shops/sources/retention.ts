import type { RetentionRule } from '@assay/till/store/retention'

export const sourcesRetention: readonly RetentionRule[] = [
  {
    tables: [
      'source',
      'source_claim',
      'source_dispute',
      'source_terms',
      'source_usage',
      'source_score',
      'source_trust',
      'score_parts',
      'trust_scale',
    ],
    addedBy: 'anybody',
    kept: 'for ever',
    why: 'a row for each domain that somebody registered, at most so many disputes; registering is limited per caller and asks the domain itself',
  },
  {
    tables: ['crawl_host', 'crawl_page', 'page_version'],
    addedBy: 'node',
    kept: 'while the page is there',
    why: 'pages of a site are limited by `CRAWL`',
    deletedBy: '`citations.crawl.…`',
  },
  {
    tables: ['citing_agent', 'citation_edge', 'external_rank', 'external_rank_list'],
    addedBy: 'payer',
    kept: 'for ever',
  },
]
