import type { MatrixAnswer, MatrixHistory, MatrixHistoryRow, MatrixRow } from '@assay/sdk'
import { type Column, table } from '../output.ts'

const bars = '▁▂▃▄▅▆▇█'

/** A line of numbers as a small picture; a gap where a day is unknown. */
export function sparkline(values: readonly (number | null)[]): string {
  const known = values.filter((value): value is number => value !== null)
  const low = Math.min(...known)
  const span = Math.max(...known) - low
  return values
    .map((value) => (value === null ? ' ' : (bars[span === 0 ? 3 : Math.round(((value - low) / span) * 7)] ?? ' ')))
    .join('')
}

/** The ranked table, with what it is and where it comes from above and below. */
export function feedTable(answer: MatrixAnswer): string {
  const names = [...new Set(answer.data.flatMap((row) => Object.keys(row.values)))].filter((name) => name !== 'score')
  const columns: Column<MatrixRow>[] = [
    { title: '#', of: (row) => String(row.rank), right: true },
    { title: 'symbol', of: (row) => row.symbol },
    { title: 'name', of: (row) => (row.name ?? '').slice(0, 30) },
    ...(answer.data.some((row) => row.score !== undefined)
      ? [
          { title: 'score', of: (row: MatrixRow) => (row.score ?? 0).toFixed(2), right: true },
          { title: 'known', of: (row: MatrixRow) => `${row.coverage_pct ?? 0} %`, right: true },
        ]
      : []),
    ...names.map((name) => ({
      title: name.replaceAll('_', ' '),
      of: (row: MatrixRow) => cellText(row.values[name]?.value),
      right: true,
    })),
    ...(answer.data.some((row) => row.trend)
      ? [{ title: 'short share', of: (row: MatrixRow) => (row.trend ? sparkline(row.trend.values) : '') }]
      : []),
    ...(answer.data.some((row) => (row.catalysts?.length ?? 0) > 0)
      ? [{ title: 'catalysts', of: (row: MatrixRow) => (row.catalysts ?? []).join(', ') }]
      : []),
  ]
  const unranked = Object.entries(answer.unranked).map(([symbol, why]) => `${symbol}: ${why}`)
  return [
    headline(answer),
    '',
    answer.data.length === 0 ? '(no rows)' : table(answer.data, columns),
    '',
    ...(answer.data.length <= explainedMax ? answer.data.flatMap(whyLines) : []),
    ...(answer.history ? [...historyLines(answer.history), ''] : []),
    ...(unranked.length > 0 ? [`not ranked: ${unranked.join(', ')}`] : []),
    `sources: ${answer.sources.map(({ source, as_of }) => `${source} (${as_of})`).join(', ')}`,
    ...answer.left_out.map(({ source, reason }) => `left out: ${source}, ${reason}`),
    `snapshot ${answer.sha256.slice(0, 16)}…, method ${answer.method}, oldest value ${answer.data_vintage}`,
    answer.disclaimer,
  ].join('\n')
}

/** Up to this many symbols are shown with the factors of their score. */
const explainedMax = 5

type Factor = NonNullable<NonNullable<MatrixRow['factors']>[string]>

/** What the factors of a ranked row add to it, the most first; those that are not known are named. */
function whyLines({ symbol, strength, factors }: MatrixRow): string[] {
  if (!factors) return []
  const known = Object.entries(factors).filter((entry): entry is [string, Factor] => entry[1] !== null)
  const unknown = Object.keys(factors).filter((name) => factors[name] === null)
  const columns: Column<[string, Factor]>[] = [
    { title: `why ${symbol}`, of: ([name]) => name.replaceAll('_', ' ') },
    { title: 'value', of: ([, { value }]) => cellText(value), right: true },
    { title: 'percentile', of: ([, { percentile }]) => cellText(percentile), right: true },
    { title: 'weight', of: ([, { weight }]) => cellText(weight), right: true },
    { title: 'points', of: ([, { points }]) => cellText(points), right: true },
    { title: 'source', of: ([, { source, as_of }]) => `${source} (${as_of})` },
  ]
  return [
    table(
      known.sort(([, a], [, b]) => b.points - a.points),
      columns,
    ),
    `strength ${cellText(strength)}${unknown.length > 0 ? `; not known: ${unknown.join(', ')}` : ''}`,
    '',
  ]
}

const historyColumns: readonly [series: string, title: string, value: (row: MatrixHistoryRow) => number | null][] = [
  ['price', 'close', (row) => row.close ?? null],
  ['short_volume', 'short share', (row) => share(row.short_volume, row.total_volume)],
  ['short_interest', 'short interest', (row) => row.position ?? null],
  ['fails', 'fails to deliver', (row) => row.quantity ?? null],
  ['borrow', 'borrow fee %', (row) => row.fee_pct ?? null],
  ['vendor', 'utilisation %', (row) => row.utilisation_pct ?? null],
  ['vendor', 'lending fee %', (row) => row.lending_fee_pct ?? null],
  ['vendor', 'implied vol. %', (row) => row.implied_volatility_30d_pct ?? null],
  ['vendor', 'put/call ratio', (row) => row.put_call_open_interest ?? null],
]

/** One line a series: a picture, and from where to where it went. */
function historyLines(history: MatrixHistory): string[] {
  const width = Math.max(...historyColumns.map(([, title]) => title.length))
  const scores = history.scores ?? []
  const [oldest, newest] = [scores[0], scores.at(-1)]
  const ranked =
    oldest && newest
      ? [
          `${'score'.padEnd(width)}  ${sparkline(scores.map(({ score }) => score))}  ${cellText(oldest.score)} (rank ${cellText(oldest.rank)}) on ${oldest.day} to ${cellText(newest.score)} (rank ${cellText(newest.rank)}) on ${newest.day}`,
        ]
      : []
  const lines = historyColumns.flatMap(([name, title, value]) => {
    const rows = history.series[name] ?? []
    const [first, last] = [rows[0], rows[rows.length - 1]]
    // A vendor may bring some fields and not the others.
    if (!first || !last || rows.every((row) => value(row) === null)) return []
    return [
      `${title.padEnd(width)}  ${sparkline(rows.map(value))}  ${cellText(value(first))} on ${first.as_of} to ${cellText(value(last))} on ${last.as_of}`,
    ]
  })
  const actions = (history.actions ?? []).map(({ kind, date, factor, from, to }) =>
    kind === 'symbol'
      ? `${from} is ${to} since ${date}`
      : `split on ${date}: ${typeof factor === 'number' ? `${cellText(factor)} new for 1 old, figures of before in new shares` : 'ratio unknown, figures of before as published'}`,
  )
  return [...ranked, ...lines, ...actions]
}

const share = (part: number | null | undefined, whole: number | null | undefined) =>
  part !== null && part !== undefined && whole ? part / whole : null

function headline(answer: MatrixAnswer): string {
  const parts = [
    `${answer.feed} / ${answer.tier}`,
    `as of ${answer.as_of}`,
    `public since ${answer.available_at}`,
    `${answer.row_count} rows by ${answer.ranked_by}`,
    ...(answer.synthetic ? ['SYNTHETIC demo data'] : []),
    ...(answer.stale ? ['STALE: a source missed its schedule'] : []),
  ]
  return parts.join(' · ')
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (typeof value !== 'number') return String(value)
  return Number.isInteger(value) ? value.toLocaleString('en-US') : value.toFixed(2)
}
