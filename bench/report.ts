import { type Figure, isReached } from './figures/figure.ts'
import type { FigureRow } from './report-figures.ts'

/** A share below one is required of bare servers, a multiple of the other peers. */
const shown = (ratio: number, required: number | null) =>
  required !== null && required < 1 ? `${(ratio * 100).toFixed(0)} %` : `${ratio.toFixed(2)} x`

/** One line per figure, the required one beside the measured one. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    figure.peer,
    figure.required === null ? '-' : shown(figure.required, figure.required),
    shown(figure.ratio, figure.required),
    figure.spread.map((ratio) => shown(ratio, figure.required)).join(' .. '),
    figure.basis,
    figure.otherRatio === undefined ? '' : `${shown(figure.otherRatio, figure.required)} by ${figure.otherBasis}`,
    figure.ours,
    figure.theirs,
    figure.required === null ? 'for comparison' : isReached(figure) ? 'ok' : 'MISSED',
  ])
  const titles = ['figure', 'beside', 'required', 'measured', 'half of rounds', 'by', 'also', 'ours', 'peer', '']
  const widths = titles.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  return [titles, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export function jsonOf(figures: readonly Figure[]): string {
  return JSON.stringify({ figures: figures.map((figure) => ({ ...figure, reached: isReached(figure) })) }, null, 2)
}

export function rowOf(figure: Figure): FigureRow {
  const { name, peer, required, ratio, ours, theirs } = figure
  return {
    figure: name,
    asked: required === null ? null : shown(required, required),
    measured: `${shown(ratio, required)}: ${ours} beside ${theirs}`,
    reached: required === null ? null : isReached(figure),
    peer,
    ratio: Number(ratio.toFixed(2)),
  }
}
