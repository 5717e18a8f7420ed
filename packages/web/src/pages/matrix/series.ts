import type { MatrixHistory } from '@assay/sdk'

export type Series = { name: string; times: number[]; values: (number | null)[] }

const dates = new Set(['as_of', 'source', 'available_at', 'ingested_at', 'revision', 'licence'])

/** Score, rank and factors, then every column of every series as its own line, oldest first. */
export function seriesOf({ series, scores = [] }: Pick<MatrixHistory, 'series' | 'scores'>): Series[] {
  const times = scores.map(({ day }) => Date.parse(day) / 1000)
  const factors = new Set(scores.flatMap((point) => Object.keys(point.factors)))
  const ranked: Series[] =
    scores.length === 0
      ? []
      : [
          { name: 'score', times, values: scores.map(({ score }) => score) },
          { name: 'rank', times, values: scores.map(({ rank }) => rank) },
          ...[...factors].map((name) => ({ name, times, values: scores.map((point) => point.factors[name] ?? null) })),
        ]
  const lines = Object.values(series).flatMap((rows) => {
    const columns = new Set(rows.flatMap((row) => Object.keys(row).filter((key) => !dates.has(key))))
    return [...columns].map((name) => ({
      name,
      times: rows.map((row) => Date.parse(row.as_of) / 1000),
      values: rows.map((row) => {
        const value = (row as Record<string, unknown>)[name]
        return typeof value === 'number' ? value : null
      }),
    }))
  })
  return [...ranked, ...lines]
}
