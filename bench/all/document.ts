import { inCommon, lineOf, type Origin, originLines } from '../record.ts'
import type { FigureRow } from '../report-figures.ts'
import { benches } from './benches.ts'

export type Result = Origin & {
  command: string
  /** Not of figures measured before they were written down. */
  versions?: string
  seconds: number
  /** Why figures are missing, where they are. */
  trouble: string | null
  rows: FigureRow[]
}
export type Results = Record<string, Result>

/** The table of docs/benchmarks.md; one made of several runs says above it which figures are of which. */
export function tableOf(results: Results): string {
  const known = benches.flatMap(({ name }) => (results[name] ? [{ name, ...results[name] }] : []))
  const lines = [
    ...originLines(known),
    ...versionLines(known),
    '',
    '| bench | figure | asked | measured | beside | ratio | |',
    '|---|---|---|---|---|---|---|',
  ]
  for (const { name, rows, trouble } of known) {
    for (const row of rows) lines.push(figureLine(name, row))
    if (trouble !== null) lines.push(lineOf([`\`${name}\``, trouble, '', '', '', '', '**not reached**']))
  }
  lines.push('', '| bench | command | run at | commit | took |', '|---|---|---|---|---|')
  for (const { name, command, at = '', commit, seconds } of known)
    lines.push(
      lineOf([`\`${name}\``, `\`${command}\``, at, commit === undefined ? '' : `\`${commit}\``, `${seconds} s`]),
    )
  return lines.join('\n')
}

/** Each program once, with the benches that ran beside another version of it. */
function versionLines(known: readonly { name: string; versions?: string }[]): string[] {
  const byProgram = new Map<string, [name: string, version: string][]>()
  for (const { name, versions } of known)
    for (const one of versions?.split(', ') ?? []) {
      const [program = '', version = ''] = one.split(' ')
      byProgram.set(program, [...(byProgram.get(program) ?? []), [name, version]])
    }
  const programs = [...byProgram].map(([program, values]) => `${program} ${inCommon(values)}`)
  return programs.length === 0 ? [] : [`- with ${programs.join(', ')}`]
}

function figureLine(name: string, { figure, asked, measured, reached, peer, ratio }: FigureRow): string {
  const verdict = reached === null ? 'counted' : reached ? 'reached' : '**not reached**'
  return lineOf([
    `\`${name}\``,
    figure,
    asked ?? '-',
    measured,
    peer ?? '',
    ratio === undefined ? '' : `${ratio} x`,
    verdict,
  ])
}
