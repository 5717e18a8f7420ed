import { type RunOptions, type RunResult, runSeed } from './run-seed.ts'
import type { Step } from './steps.ts'

export type Shrunk = { steps: readonly Step[]; result: Extract<RunResult, { status: 'violated' }>; runs: number }

/** Takes steps out, in ever smaller pieces, as long as the same rule stays broken. */
export async function shrink(
  options: Omit<RunOptions, 'steps' | 'onStep'>,
  failing: { steps: readonly Step[]; result: Extract<RunResult, { status: 'violated' }> },
  runsMax: number,
): Promise<Shrunk> {
  let steps = failing.steps.slice(0, failing.result.at + 1)
  let result = failing.result
  let runs = 0
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < steps.length && runs < runsMax; ) {
      const fewer = [...steps.slice(0, from), ...steps.slice(from + size)]
      // Where nothing happens nothing breaks.
      if (fewer.length === 0) break
      runs += 1
      const again = await runSeed({ ...options, steps: fewer })
      if (again.status === 'violated' && again.rule === result.rule) {
        steps = fewer.slice(0, again.at + 1)
        result = again
      } else from += size
    }
  }
  return { steps, result, runs }
}
