import type { MatrixHistory } from '@assay/sdk'

export type Series = { name: string; times: number[]; values: (number | null)[] }

const dates = new Set(['as_of', 'source', 'available_at', 'ingested_at', 'revision', 'licence'])

/** Every column of every series as its own line, oldest first. */
export function seriesOf({ series }: Pick<MatrixHistory, 'series'>): Series[] {
  return Object.values(series).flatMap((rows) => {
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
}
