import { reportFigures } from '../report-figures.ts'

/** A part of the proof: what was asked, what was seen, and everything that was wrong. */
export type Verdict = {
  name: string
  asked: string
  measured: string
  faults: readonly string[]
  notes?: readonly string[]
}

export function tell(verdict: Verdict): void {
  const { name, asked, measured, faults, notes = [] } = verdict
  process.stdout.write(`${faults.length === 0 ? 'ok    ' : 'FAILED'}  ${name}: ${measured} (asked: ${asked})\n`)
  for (const note of notes) process.stdout.write(`        ${note}\n`)
  for (const fault of faults.slice(0, 20)) process.stdout.write(`        ! ${fault}\n`)
  reportFigures({ figure: name, asked, measured, reached: faults.length === 0 })
}
