import type { Database } from '@assay/till/store/database'
import type { MatchEngine } from './match-engine.ts'
import { readQuery } from './read-query.ts'

/**
 * Full text search of PostgreSQL behind the same port: nothing to build or to hold in memory, shared by all processes,
 * and slower by far. The words are ORed, as the index does.
 */
export function openPostgresEngine(database: Database): MatchEngine {
  return {
    name: 'postgres',
    search: async (query, filters, limit) => {
      const words = [...readQuery(query).terms.keys()]
      const nothing = { candidates: [], unknown: [], suggestions: {} }
      if (words.length === 0) return nothing
      const queries = words.map((word) => `'${word.replaceAll("'", "''")}':*`)
      const { rows } = await database.query<{ page_id: bigint; domain: string; rank: number; covered: number }>(
        `select p.change_seq as page_id, p.domain, ts_rank_cd(w.words, q, 1) as rank,
           (select count(*) from unnest($9::text[]) one where w.words @@ to_tsquery('english', one))::float8 / cardinality($9::text[]) as covered
         from crawl_page p join source s on s.domain = p.domain
         join page_version v on v.domain = p.domain and v.url = p.url and v.text_sha256 = p.text_sha256,
         lateral (select setweight(to_tsvector('english', v.title), 'A') || to_tsvector('english', v.text) as words) w,
         to_tsquery('english', $1) q
         where p.change_seq is not null and w.words @@ q
           and ($2::text[] is null or exists (select from unnest($2::text[]) d where p.domain = d or p.domain like '%.' || d)) and coalesce(s.cite_score, 0) >= $3
           and ($4::text is null or lower(split_part(p.facts->>'language', '-', 1)) = $4)
           and ($5::text[] is null or exists (
             select from jsonb_array_elements(p.facts->'licences') l where lower(l->>'name') = any($5)))
           and ($6::int is null or coalesce(
             (p.facts->>'modifiedAt')::timestamptz, (p.facts->>'publishedAt')::timestamptz, p.fetched_at) >= to_timestamp($6::float8 * 86400))
           and ($10::int is null or coalesce(
             (p.facts->>'modifiedAt')::timestamptz, (p.facts->>'publishedAt')::timestamptz, p.fetched_at) < to_timestamp(($10::float8 + 1) * 86400))
           and ($11::text[] is null or p.facts->>'type' = any($11))
           and ($8::text[] is null or s.registrable <> all($8))
         order by rank desc, p.change_seq limit $7`,
        [
          queries.join(' | '),
          filters.domains ?? null,
          filters.minScore ?? 0,
          filters.language ?? null,
          filters.licences ?? null,
          filters.sinceDay ?? null,
          limit,
          filters.notUnder ?? null,
          queries,
          filters.untilDay ?? null,
          filters.types ?? null,
        ],
      )
      return {
        ...nothing,
        candidates: rows.map((row) => ({
          pageId: Number(row.page_id),
          domain: row.domain,
          // ts_rank_cd has no upper end: this keeps its order.
          relevance: (row.covered * row.rank) / (row.rank + 0.1),
          covered: row.covered,
          parts: { words: row.rank },
        })),
      }
    },
    // The rows are the index.
    indexedTo: async () => 0,
    add: async () => {},
    setScores: async () => {},
    size: async () => {
      const { rows } = await database.query<{ docs: number }>(
        'select count(*)::int as docs from crawl_page where change_seq is not null and text_sha256 is not null',
      )
      return { docs: rows[0]?.docs ?? 0, segments: 0 }
    },
    stop: async () => {},
  }
}
