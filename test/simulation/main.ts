// npm run simulate -- --seed N --steps M [--seeds K] [--shrink R] [--keep] [--plant NAME]
import { parseArgs } from 'node:util'
import { startTestServer, testServerVariable } from '../../packages/till/src/store/testing.ts'
import { wholeNumber } from '../harness/whole-number.ts'
import { plantedFaults } from './planted-faults.ts'
import { asRegression, keepRegression, regressionsFile } from './regressions.ts'
import { type Actions, type RunOptions, runSeed, type Seen } from './run-seed.ts'
import { shrink } from './shrink.ts'
import { stepsOf } from './steps.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '200' },
    /** How many seeds in a row, from the first one on. */
    seeds: { type: 'string', default: '1' },
    /** How many runs may be spent on thinning out a failing list of steps. */
    shrink: { type: 'string', default: '60' },
    /** Puts what is left of a failing list into regressions.json, which every test run plays again. */
    keep: { type: 'boolean', default: false },
    /** A fault to put in, to see it found. */
    plant: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
})

const first = wholeNumber('seed', values.seed, 0)
const count = wholeNumber('steps', values.steps, 1)
const seeds = wholeNumber('seeds', values.seeds, 1)
const shrinkRuns = wholeNumber('shrink', values.shrink, 0)
const plant = values.plant === undefined ? undefined : plantedFaults[values.plant]
if (values.plant !== undefined && plant === undefined)
  throw new Error(`--plant takes one of: ${Object.keys(plantedFaults).join(', ')}`)
if (values.keep && plant !== undefined) throw new Error('--keep is for faults of the node, not for planted ones')

const say = (text: string) => process.stdout.write(`${text}\n`)

/** Done of tried, so that nobody takes a run in which nothing came about for a proof. */
const describeActions = (actions: Actions) =>
  Object.entries(actions)
    .map(([kind, { tried, done }]) => `${kind} ${done}/${tried}`)
    .join(', ')

const describeSeen = (seen: Seen) =>
  Object.entries(seen)
    .map(([what, number]) => `${what} ${number}`)
    .join(', ')

async function runOne(seed: string): Promise<boolean> {
  const steps = stepsOf(seed, count)
  const options: Omit<RunOptions, 'steps'> = { seed, ...(plant === undefined ? {} : { plant }) }
  const startedMs = performance.now()
  const result = await runSeed({
    ...options,
    steps,
    onStep: (number, { a, b, c }, place) => {
      if (values.verbose) say(`  ${place} ${a} ${b} ${c}`)
      else if (number > 0 && number % 100 === 0) say(`  seed ${seed}: ${number} steps`)
    },
  })
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  say(`  ${describeActions(result.actions)}`)
  if (result.status === 'held') {
    say(`  ${describeSeen(result.seen)}`)
    say(`seed ${seed}: ${result.steps} steps, every rule held, ${seconds} s`)
    return true
  }
  say(`seed ${seed}: BROKEN at step ${result.at} after ${seconds} s: ${result.message}`)
  const shrunk = await shrink(options, { steps, result }, shrinkRuns)
  say(`thinned out to ${shrunk.steps.length} steps in ${shrunk.runs} runs: ${shrunk.result.message}`)
  for (const { kind, a, b, c } of shrunk.steps) say(`  ${kind} ${a} ${b} ${c}`)
  const regression = { found: shrunk.result.message, seed, steps: [...shrunk.steps] }
  if (values.keep) {
    await keepRegression(regressionsFile, regression)
    say('kept in test/simulation/regressions.json')
  } else say(`to keep it, say --keep or add to test/simulation/regressions.json:\n${asRegression(regression)}`)
  return false
}

// One database server for all runs: each of them has its own database.
const server = await startTestServer()
process.env[testServerVariable] = server.url

let broken = 0
for (let index = 0; index < seeds; index += 1) if (!(await runOne(String(first + index)))) broken += 1
say(broken === 0 ? 'all seeds held' : `${broken} seeds broken`)
await server.stop()
process.exit(broken === 0 ? 0 : 1)
