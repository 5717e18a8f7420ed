import type { Database, Sql } from '@assay/till/store/database'
import type { IsoDate } from '../calendar/dates.ts'
import type { FeedId } from '../feeds/feed.ts'
import { isScoreMethod, type ScoreMethodName, scoreMethods } from '../score/method.ts'
import { float4Array, textArray } from '../store/pg-arrays.ts'

/** What is kept of a symbol and day beside the factors. */
const ownFigures = ['rank', 'score', 'strength'] as const

export const figureNames = (method: ScoreMethodName): readonly string[] => [
  ...ownFigures,
  ...scoreMethods[method].factors.map(({ name }) => name),
]

export type ScoredDay = {
  feed: FeedId
  day: IsoDate
  key: string
  method: ScoreMethodName
  symbols: readonly string[]
  /** One symbol after the other, each as `figureNames` says. */
  figures: Float32Array
}

export async function keepScoredDay(
  database: Database,
  { feed, day, key, method, symbols, figures }: ScoredDay,
): Promise<void> {
  const width = figureNames(method).length
  await database.transaction(async (tx) => {
    await tx.query(
      `insert into matrix_score_month (feed, symbol, month, method, days, figures)
       select $1, symbol, date_trunc('month', $2::date), $3, array[$2::date], ($5::float4[])[(i - 1) * $6 + 1 : i * $6]
       from unnest($4::text[]) with ordinality as given (symbol, i)
       on conflict (feed, symbol, month, method) do update
         set days = matrix_score_month.days || excluded.days, figures = matrix_score_month.figures || excluded.figures`,
      [feed, day, method, textArray(symbols), float4Array(figures), width],
    )
    await tx.query(
      `insert into matrix_score_day (feed, day, key) values ($1, $2, decode($3, 'hex'))
       on conflict (feed, day) do update set key = excluded.key`,
      [feed, day, key],
    )
  })
}

/** By feed and day, what it was made of. */
export async function keptScoredDays(sql: Sql, since: IsoDate): Promise<Map<string, string>> {
  const { rows } = await sql.query<{ name: string; key: string }>(
    `select feed || ' ' || day as name, encode(key, 'hex') as key from matrix_score_day where day >= $1`,
    [since],
  )
  return new Map(rows.map(({ name, key }) => [name, key]))
}

export type ScorePoint = {
  day: IsoDate
  method: string
  rank: number | null
  score: number | null
  strength: number | null
  factors: Record<string, number | null>
}

/** Oldest first. Days up to `until` only: each is what was known before its open. */
export async function readScores(
  sql: Sql,
  query: {
    feed: FeedId
    /** What the paper was called, and between which days. */
    names: readonly { symbol: string; after: IsoDate; before: IsoDate }[]
    since: IsoDate
    until: IsoDate
  },
): Promise<ScorePoint[]> {
  // As text: the driver takes arrays apart sign by sign, which for thousands of figures costs more than the query.
  const { rows } = await sql.query<{ symbol: string; method: string; days: string; figures: string }>({
    name: 'matrix_scores',
    text: `select symbol, method, array_to_string(days, ' ') as days, array_to_string(figures, ' ') as figures from matrix_score_month
           where feed = $1 and symbol = any($2::text[]) and month >= date_trunc('month', $3::date) and month <= $4::date`,
    values: [query.feed, query.names.map(({ symbol }) => symbol), query.since, query.until],
  })
  const points = new Map<string, ScorePoint>()
  for (const { symbol, method, days, figures } of rows) {
    const name = query.names.find((one) => one.symbol === symbol)
    if (!name || !isScoreMethod(method)) continue
    const names = figureNames(method)
    const all = figures.split(' ')
    const given = days.split(' ')
    for (let index = 0; index < given.length; index += 1) {
      const day = given[index] as string
      if (day < query.since || day > query.until || day <= name.after || day >= name.before) continue
      points.set(`${day} ${method}`, pointOf(day, method, names, all, index * names.length))
    }
  }
  return [...points.values()].sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : a.method < b.method ? -1 : 1))
}

function pointOf(
  day: IsoDate,
  method: string,
  names: readonly string[],
  all: readonly string[],
  at: number,
): ScorePoint {
  const factors: Record<string, number | null> = {}
  for (let i = ownFigures.length; i < names.length; i += 1) factors[names[i] as string] = shown(all[at + i] as string)
  const [rank, score, strength] = [shown(all[at] as string), shown(all[at + 1] as string), shown(all[at + 2] as string)]
  return { day, method, rank, score, strength, factors }
}

/** The database writes as many digits as single precision has. */
function shown(text: string): number | null {
  const figure = Number(text)
  return Number.isFinite(figure) ? figure : null
}
