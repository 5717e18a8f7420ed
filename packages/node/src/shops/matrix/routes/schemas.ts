import { z } from 'zod'
import { parseRules } from '../alerts/rule.ts'
import { isIsoDate } from '../calendar/dates.ts'
import { feeds } from '../feeds/catalogue.ts'
import { type FeedColumn, feedIds } from '../feeds/feed.ts'
import { type ScoreMethodName, scoreMethods } from '../score/method.ts'
import { readSymbols } from '../snapshots/page.ts'
import { parseFilter, parseSort } from '../snapshots/select-rows.ts'
import { limitDefault, limitMax } from './limits.ts'
import { historyDaysMax } from './read-history.ts'

const whole = (low: number, high: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/, `must be a whole number from ${low} to ${high}`)
    .transform(Number)
    .refine((value) => value >= low && value <= high, `must be a whole number from ${low} to ${high}`)

const symbol = z
  .string()
  .max(400)
  .refine((text) => readSymbols(text) !== undefined, 'must be up to 50 symbols, separated by commas')
  .describe('One symbol or several, such as GME or BRK.B,GME.')
const limit = whole(1, limitMax).optional().describe(`How many rows, ${limitDefault} by default, at most ${limitMax}.`)
const minScore = z
  .string()
  .regex(/^-?\d{1,9}(\.\d{1,6})?$/, 'must be a number')
  .transform(Number)
  .describe('Only rows whose ranking value is at least this.')
const cursor = z
  .string()
  .regex(/^[0-9a-f]{64}\.\d{1,7}$/, 'is not a cursor of this node')
  .describe('next_cursor of the page before.')

const sort = z
  .string()
  .max(200)
  .refine(
    (text) => parseSort(text) !== undefined,
    'must be up to 3 columns, separated by commas, - before one for descending',
  )
  .describe('Columns to order by, such as -days_to_cover,symbol. Unknown values come last. Default: by rank.')
const filter = z
  .string()
  .max(400)
  .refine((text) => parseFilter(text) !== undefined, 'must be up to 10 conditions such as days_to_cover>=2,kind=share')
  .describe('Conditions that all must hold: a column, one of >= <= > < = !=, a value. An unknown value meets none.')

const asOf = z
  .string()
  .max(40)
  .refine(
    (text) => isIsoDate(text) || /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text),
    'must be a date or an RFC 3339 time',
  )
  .refine((text) => !Number.isNaN(Date.parse(text)), 'must be a date or an RFC 3339 time')
  .describe(
    'What was known then: revisions and files that came later do not count. A date means the end of that day. known_at in the answer is the moment used.',
  )

/** What a screen saves of a query, as it was given. */
export const screenMembers = {
  sort: sort.optional(),
  filter: filter.optional(),
  min_score: z
    .string()
    .regex(/^-?\d{1,9}(\.\d{1,6})?$/, 'must be a number')
    .optional(),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,4}$/, 'must be a whole number')
    .optional(),
}

export const liveQuery = z.strictObject({
  symbol: symbol.optional(),
  limit,
  min_score: minScore.optional(),
  sort: sort.optional(),
  filter: filter.optional(),
  cursor: cursor.optional(),
  as_of: asOf.optional(),
  screen: z
    .string()
    .regex(/^scr_[0-9a-f]{32}$/, 'is not the id of a screen')
    .optional()
    .describe('A saved screen or watchlist (POST /v1/matrix/screens); what the query itself says comes first.'),
})

export const vipQuery = liveQuery.extend({
  method: z
    .enum(Object.keys(scoreMethods) as [ScoreMethodName, ...ScoreMethodName[]])
    .optional()
    .describe('An earlier method of the score, for the rankings made of it.'),
  history: whole(1, historyDaysMax).optional().describe('Trading days of history of the one symbol asked for.'),
  alerts: z
    .string()
    .max(1_000)
    .refine(
      (text) => parseRules(text) !== undefined,
      'must be up to 20 rules such as squeeze:GME:score>=95, separated by commas',
    )
    .optional()
    .describe('With stream=1: rules, on any column of any feed, whose alerts come as events of the stream.'),
  stream: z.literal('1').optional().describe('Subscribers only: new snapshots as server-sent events.'),
})

// Unknown feeds never reach it: `routable` answers them first.
export const feedParams = z.strictObject({ feed: z.enum(feedIds, 'is not a feed') })
export const anyFeedParams = z.strictObject({ feed: z.string().max(40) })

const value = {
  value: z.union([z.number(), z.string(), z.boolean()]),
  source: z.string(),
  as_of: z.string(),
  available_at: z.string(),
  licence: z.string(),
}
const cell = z.looseObject(value).nullable()
const factor = z.looseObject({ ...value, percentile: z.number(), weight: z.number(), points: z.number() }).nullable()

/** Units of the columns of all feeds: a column has the same unit in each of them. */
function unitsOf(wanted: (column: FeedColumn) => boolean): Record<string, string> {
  const columns = feedIds.flatMap((id) => feeds[id].columns).filter(wanted)
  return Object.fromEntries(columns.map(({ name, unit }) => [name.replace(/^factors\./, ''), unit]))
}
const isFactor = ({ name }: FeedColumn) => name.startsWith('factors.')
const cells = (wanted: (column: FeedColumn) => boolean) =>
  z.record(z.string(), cell).meta({ description: 'By column; x-units has the units.', 'x-units': unitsOf(wanted) })

const row = z.looseObject({
  rank: z.number(),
  symbol: z.string(),
  name: z.string().nullable(),
  kind: z.string(),
  score: z.number().optional().describe('0..100, by percentile.'),
  strength: z.number().optional().describe('What is ranked by; the points of the factors add up to it.'),
  coverage_pct: z.number().optional().describe('%'),
  catalysts: z.array(z.string()).optional(),
  values: cells(({ tier }) => tier === 'live'),
  trend: z.looseObject({ of: z.string(), values: z.array(z.number().nullable()) }).optional(),
  factors: z
    .record(z.string(), factor)
    .meta({ description: 'By factor; x-units has the units.', 'x-units': unitsOf(isFactor) })
    .optional(),
  details: cells((column) => column.tier === 'vip' && !isFactor(column)).optional(),
})

const figure = z.number().nullable().optional()
const historyUnits = {
  short_volume: 'shares',
  exempt_volume: 'shares',
  total_volume: 'shares',
  position: 'shares',
  previous_position: 'shares',
  average_volume: 'shares',
  days_to_cover: 'days',
  quantity: 'shares',
  price: 'USD',
  fee_pct: '% a year',
  rebate_pct: '% a year',
  available: 'shares',
  utilisation_pct: '%',
  lending_fee_pct: '% a year',
  implied_volatility_30d_pct: '% a year',
  put_call_open_interest: 'ratio',
  close: 'USD',
  volume: 'shares',
} as const

const historyRow = z.looseObject({
  as_of: z.string(),
  source: z.string(),
  available_at: z.string(),
  ingested_at: z.string(),
  revision: z.number(),
  licence: z.string(),
  ...Object.fromEntries(Object.entries(historyUnits).map(([name, unit]) => [name, figure.describe(unit)])),
  split_factor: figure.describe(
    'Shares of now for one of that day, where there were splits since: shares are multiplied by it, prices divided. null: not known, figures as published.',
  ),
})

const history = z
  .looseObject({
    symbol: z.string(),
    days: z.number(),
    scores: z
      .array(
        z.looseObject({
          day: z.string().describe('The trading day before whose open this was known.'),
          method: z.string(),
          rank: z.number().nullable(),
          score: z.number().nullable().describe('0..100'),
          strength: z.number().nullable().describe('points'),
          factors: z.record(z.string(), z.number().nullable()).describe('Values in the units of the columns.'),
        }),
      )
      .optional()
      .describe('Rankings only: score, rank and factors by day, oldest first.'),
    actions: z
      .array(
        z.looseObject({
          kind: z.enum(['split', 'symbol']),
          date: z.string(),
          factor: figure,
          from: z.string().optional(),
          to: z.string().optional(),
          source: z.string(),
          available_at: z.string(),
        }),
      )
      .optional()
      .describe('Splits (`factor`) and changes of symbol (`from`, `to`) that were known.'),
    series: z.record(z.string(), z.array(historyRow)),
  })
  .describe('Oldest first, by series; each row has the columns of its source.')

export const pullOutput = z.looseObject({
  feed: z.enum(feedIds),
  tier: z.enum(['live', 'vip', 'delayed']),
  as_of: z.string(),
  available_at: z.string(),
  known_at: z.string().optional().describe('With as_of: only what was public by this moment was used.'),
  data_vintage: z.string().describe('The oldest date behind any value.'),
  sha256: z.string().describe('Of the whole snapshot, which can be made again from `inputs`.'),
  method: z.string(),
  coverage_pct: z.number(),
  row_count: z.number(),
  ranked_by: z.string(),
  synthetic: z.boolean(),
  stale: z.boolean(),
  next_expected_at: z.string().nullable(),
  sources: z.array(
    z.looseObject({
      source: z.string(),
      as_of: z.string(),
      available_at: z.string(),
      licence: z.string(),
      attribution: z.string(),
    }),
  ),
  left_out: z.array(z.looseObject({ source: z.string(), reason: z.string() })),
  unranked: z.record(z.string(), z.string()),
  disclaimer: z.string(),
  data: z.array(row),
  next_cursor: z.string().nullable(),
  history: history.optional(),
})
