/** One thing that was asked of the node and what was seen. */
export type Line = { step: string; asked: string; seen: string; verdict: 'passed' | 'failed' | 'skipped' }

export type Report = {
  lines: readonly Line[]
  /** Begins a step; what follows belongs to it. */
  step(name: string): void
  /** Passes when `work` returns what was seen; an error is what was seen otherwise. */
  check(asked: string, work: () => Promise<string>): Promise<boolean>
  skip(asked: string, why: string): void
}

export class Unexpected extends Error {}

/** Fails the check that it is in. */
export function expectThat(holds: boolean, seen: string): asserts holds {
  if (!holds) throw new Unexpected(seen)
}

export function createReport(say: (text: string) => void): Report {
  const lines: Line[] = []
  const startedMs = performance.now()
  let step = ''
  const add = (line: Line) => {
    lines.push(line)
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(0).padStart(4)
    say(`${seconds} s  ${line.verdict.padEnd(7)}  ${line.asked}\n                  ${line.seen}`)
  }
  return {
    lines,
    step: (name) => {
      step = name
      say(`\n${name}`)
    },
    check: async (asked, work) => {
      try {
        add({ step, asked, seen: await work(), verdict: 'passed' })
        return true
      } catch (error) {
        const seen = error instanceof Unexpected ? error.message : String((error as Error).message ?? error)
        add({ step, asked, seen: seen.slice(0, 600), verdict: 'failed' })
        return false
      }
    },
    skip: (asked, why) => add({ step, asked, seen: why, verdict: 'skipped' }),
  }
}

/** One row a step. */
export function tableOf(lines: readonly Line[]): string {
  const steps = [...new Set(lines.map(({ step }) => step))]
  const rows = steps.map((step) => {
    const own = lines.filter((line) => line.step === step)
    const count = (verdict: Line['verdict']) => own.filter((line) => line.verdict === verdict).length
    return [step, String(count('passed')), String(count('failed')), String(count('skipped'))]
  })
  const all = [['step', 'passed', 'failed', 'skipped'], ...rows]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')
}
