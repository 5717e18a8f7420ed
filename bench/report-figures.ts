import { appendFileSync } from 'node:fs'

/** One line of the gathered table: what was asked for, what came out. */
export type FigureRow = {
  figure: string
  /** As it is in the document; null where nothing is asked and the figure is only counted. */
  asked: string | null
  measured: string
  /** Null where nothing is asked. */
  reached: boolean | null
  /** Measured beside it, on the same machine in the same minute. */
  peer?: string
  /** How many times, or what share of, the peer's speed ours is. */
  ratio?: number
}

/** Where `npm run bench` wants the rows of a bench, one JSON object a line. */
export const figuresVariable = 'BENCH_FIGURES'

const reported: FigureRow[] = []

/** What was reported in this process since this was last asked. */
export const takeReported = (): FigureRow[] => reported.splice(0)

/** Hands figures to the run that collects them; alone, a bench prints its own report. */
export function reportFigures(...rows: readonly FigureRow[]): void {
  reported.push(...rows)
  const file = process.env[figuresVariable]
  if (!file) return
  appendFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
}
