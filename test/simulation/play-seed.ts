import type { Regression } from './regressions.ts'
import { type Actions, type RunOptions, runSeed, type Seen } from './run-seed.ts'
import { shrink } from './shrink.ts'
import { stepsOf } from './steps.ts'

export type SeedWanted = { seed: string; steps: number; shrinkRuns: number; plant?: RunOptions['plant'] }

/** What became of a seed, as plain data, and the lines that report it. */
export type Played = { seed: string; seconds: number; lines: string[] } & (
  | { held: true; seen: Seen }
  | { held: false; regression: Regression }
)

/** Plays a seed; the list of steps of one that breaks a rule is thinned out. */
export async function playSeed(wanted: SeedWanted, onStep?: RunOptions['onStep']): Promise<Played> {
  const { seed, plant, shrinkRuns } = wanted
  const options = { seed, ...(plant === undefined ? {} : { plant }) }
  const steps = stepsOf(seed, wanted.steps)
  const startedMs = performance.now()
  const result = await runSeed({ ...options, steps, ...(onStep ? { onStep } : {}) })
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10
  const done = `  ${describeActions(result.actions)}`
  if (result.status === 'held') {
    const held = `seed ${seed}: ${result.steps} steps, every rule held, ${seconds} s`
    return { seed, seconds, held: true, seen: result.seen, lines: [done, `  ${describeSeen(result.seen)}`, held] }
  }
  const shrunk = await shrink(options, { steps, result }, shrinkRuns)
  const lines = [
    done,
    `seed ${seed}: BROKEN at step ${result.at} after ${seconds} s: ${result.message}`,
    `thinned out to ${shrunk.steps.length} steps in ${shrunk.runs} runs: ${shrunk.result.message}`,
    ...shrunk.steps.map(({ kind, a, b, c }) => `  ${kind} ${a} ${b} ${c}`),
  ]
  const regression = { found: shrunk.result.message, seed, steps: [...shrunk.steps] }
  return { seed, seconds, held: false, regression, lines }
}

/** Done of tried, so that nobody takes a run in which nothing came about for a proof. */
const describeActions = (actions: Actions) =>
  Object.entries(actions)
    .map(([kind, { tried, done }]) => `${kind} ${done}/${tried}`)
    .join(', ')

const describeSeen = (seen: Seen) =>
  Object.entries(seen)
    .map(([what, number]) => `${what} ${number}`)
    .join(', ')
