import type { Database, Sql } from '@assay/till/store/database'
import type { Filters } from './filters.ts'
import type { MatchEngine } from './match-engine.ts'
import { readQuery } from './read-query.ts'
import type { IndexedDoc } from './segment.ts'
import { termShares, unknownWords } from './term-weights.ts'
import { tokenize } from './tokenize.ts'

/** A word on so many pages is common; nobody counts further. */
const countMax = 20_000

/**
 * Full text search of PostgreSQL behind the same port: nothing is held in memory, all processes share one table, and it
 * is slower by far. The terms are ours, so that all engines understand a question alike; the words are ORed.
 */
export function openPostgresEngine(database: Database): MatchEngine {
  const docCount = async () => {
    const { rows } = await database.query<{ docs: number }>('select count(*)::int as docs from match_page')
    return rows[0]?.docs ?? 0
  }
  return {
    name: 'postgres',
    search: async (query, filters, limit) => {
      const { terms, words } = readQuery(query)
      if (terms.size === 0) return { candidates: [], unknown: [], suggestions: {} }
      const counts = await countTerms(database, [...terms.keys()])
      const shares = termShares(terms, counts, await docCount())
      const { rows } = await database.query<{ page_id: bigint; domain: string; rank: number; covered: number }>(
        searchStatement,
        [[...shares.keys()].map(quoted), [...shares.values()], limit, ...filterValues(filters)],
      )
      return {
        candidates: rows.map(({ page_id, domain, rank, covered }) => ({
          pageId: Number(page_id),
          domain,
          relevance: relevanceOf(covered, rank),
          covered,
          parts: { words: rank },
        })),
        unknown: unknownWords(words, counts),
        suggestions: {},
      }
    },
    indexedTo: async () => {
      const { rows } = await database.query<{ newest: bigint }>(
        'select coalesce(max(page_id), 0) as newest from match_page',
      )
      return Number(rows[0]?.newest ?? 0)
    },
    add: (docs) => database.transaction((tx) => addDocs(tx, docs)),
    // Scores are read where they are.
    setScores: async () => {},
    size: async () => ({ docs: await docCount(), segments: 0 }),
    stop: async () => {},
  }
}

/** ts_rank_cd has no upper end: this keeps its order. */
const relevanceOf = (covered: number, rank: number) => (covered * rank) / (rank + 0.1)

const quoted = (term: string) => `'${term.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`

async function countTerms(sql: Sql, terms: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await sql.query<{ place: number; count: number }>(
    `select t.place::int, (select count(*)::int from (select from match_page where words @@ t.term::tsquery limit ${countMax}) as some_pages) as count
     from unnest($1::text[]) with ordinality as t(term, place)`,
    [terms.map(quoted)],
  )
  return new Map(rows.map(({ place, count }) => [terms[place - 1] as string, count]))
}

const searchStatement = `
  with asked as (select term::tsquery as term, share from unnest($1::text[], $2::float8[]) as t(term, share)),
  found as (
    select m.page_id, m.domain, ts_rank_cd(m.words, whole.query, 1) as rank,
      (select coalesce(sum(a.share), 0) from asked a where m.words @@ a.term) as covered
    from match_page m cross join (select array_to_string($1::text[], ' | ')::tsquery as query) as whole
    join source s on s.domain = m.domain
    where m.words @@ whole.query
      and ($4::text[] is null or exists (select from unnest($4::text[]) d where m.domain = d or m.domain like '%.' || d))
      and coalesce(s.cite_score, 0) >= $5
      and ($6::text is null or m.language = $6)
      and ($7::text[] is null or lower(m.licence) = any($7))
      and ($8::int is null or m.day >= $8) and ($9::int is null or m.day <= $9)
      and ($10::text[] is null or m.type = any($10))
      and ($11::text[] is null or s.registrable <> all($11)))
  select * from found order by covered * rank / (rank + 0.1) desc, page_id limit $3`

const filterValues = ({ domains, minScore, language, licences, sinceDay, untilDay, types, notUnder }: Filters) => [
  domains ?? null,
  minScore ?? 0,
  language ?? null,
  licences ?? null,
  sinceDay ?? null,
  untilDay ?? null,
  types ?? null,
  notUnder ?? null,
]

async function addDocs(sql: Sql, docs: readonly IndexedDoc[]): Promise<void> {
  if (docs.length === 0) return
  const rows = docs.map(({ pageId, title, text, ...facts }) => ({
    ...facts,
    page_id: pageId,
    words: vectorOf(title, text),
  }))
  await sql.query(
    `insert into match_page (page_id, domain, words, language, licence, type, day)
     select page_id, domain, words::tsvector, language, licence, type, day
     from jsonb_to_recordset($1::jsonb) as t(page_id bigint, domain text, words text, language text, licence text, type text, day integer)
     on conflict (page_id) do nothing`,
    [JSON.stringify(rows)],
  )
}

/** What PostgreSQL takes: so many places of a term, none beyond this one. */
const placesMax = 255
const placeMax = 16_383

function vectorOf(title: string, text: string): string {
  const places = new Map<string, string[]>()
  const put = (terms: readonly string[], from: number, weight: string) => {
    for (const [at, term] of terms.entries()) {
      const known = places.get(term) ?? []
      if (known.length < placesMax) known.push(`${Math.min(placeMax, from + at)}${weight}`)
      places.set(term, known)
    }
  }
  const titleTerms = tokenize(title)
  put(titleTerms, 1, 'A')
  put(tokenize(text), titleTerms.length + 1, '')
  return [...places].map(([term, where]) => `${quoted(term)}:${[...new Set(where)].join(',')}`).join(' ')
}

/** Pages that changed or are gone have a number that no page has any more. */
export async function deleteStalePages(sql: Sql): Promise<void> {
  await sql.query('delete from match_page m where not exists (select from crawl_page p where p.change_seq = m.page_id)')
}
