import type { MatrixRow } from '@assay/sdk'

/** The rank of a value among those shown in its column, 0 to 1; null where there is no number. */
export function heatOf(rows: readonly MatrixRow[], column: string): Map<string, number> {
  const numbers = rows.flatMap((row) => {
    const value = row.values[column]?.value
    return typeof value === 'number' ? [{ symbol: row.symbol, value }] : []
  })
  const low = Math.min(...numbers.map(({ value }) => value))
  const span = Math.max(...numbers.map(({ value }) => value)) - low
  return new Map(numbers.map(({ symbol, value }) => [symbol, span === 0 ? 0.5 : (value - low) / span]))
}

/** The columns of a feed in the order of its first rows; not every row has every one. */
export function columnsOf(rows: readonly MatrixRow[]): string[] {
  const names = new Set<string>()
  for (const row of rows) for (const name of Object.keys(row.values)) names.add(name)
  return [...names]
}

/** The oldest date behind a column: a figure is as old as the oldest part of it. */
export function oldestAsOf(rows: readonly MatrixRow[], column: string): string | undefined {
  const dates = rows.flatMap((row) => row.values[column]?.as_of ?? [])
  return dates.length === 0 ? undefined : dates.reduce((oldest, date) => (date < oldest ? date : oldest))
}

export type AgeTone = 'good' | 'warn' | 'bad'

/** Short interest is published twice a month, so a figure of three weeks is usual and one of two months is not. */
export function ageTone(asOf: string, nowMs: number): AgeTone {
  const days = (nowMs - Date.parse(asOf)) / 86_400_000
  if (days <= 5) return 'good'
  return days <= 45 ? 'warn' : 'bad'
}
