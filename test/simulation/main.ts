// npm run simulate -- --seed N --steps M [--seeds K] [--shrink R] [--plant NAME]
import { parseArgs } from 'node:util'
import { plantedFaults } from './planted-faults.ts'
import { asRegression } from './regressions.ts'
import { type RunOptions, runSeed } from './run-seed.ts'
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
    /** A fault to put in, to see it found. */
    plant: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
})

const count = Number(values.steps)
const plant = values.plant === undefined ? undefined : plantedFaults[values.plant]
if (values.plant !== undefined && plant === undefined)
  throw new Error(`--plant takes one of: ${Object.keys(plantedFaults).join(', ')}`)

const say = (text: string) => process.stdout.write(`${text}\n`)

async function runOne(seed: string): Promise<boolean> {
  const steps = stepsOf(seed, count)
  const options: Omit<RunOptions, 'steps'> = { seed, ...(plant === undefined ? {} : { plant }) }
  const startedMs = performance.now()
  const result = await runSeed({
    ...options,
    steps,
    onStep: (number, { kind, a, b, c }) => {
      if (values.verbose) say(`  ${number} ${kind} ${a} ${b} ${c}`)
      else if (number > 0 && number % 100 === 0) say(`  seed ${seed}: ${number} steps`)
    },
  })
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  if (result.status === 'held') {
    say(
      `seed ${seed}: ${result.steps} steps, ${result.orders} orders, ${result.payments} payments sent, ${result.draws} draws of credit, every rule held, ${seconds} s`,
    )
    return true
  }
  say(`seed ${seed}: BROKEN at step ${result.at} after ${seconds} s: ${result.message}`)
  const shrunk = await shrink(options, { steps, result }, Number(values.shrink))
  say(`thinned out to ${shrunk.steps.length} steps in ${shrunk.runs} runs: ${shrunk.result.message}`)
  for (const { kind, a, b, c } of shrunk.steps) say(`  ${kind} ${a} ${b} ${c}`)
  say(
    `to keep it, add to test/simulation/regressions.json:\n${asRegression(shrunk.result.message, seed, shrunk.steps)}`,
  )
  return false
}

let broken = 0
for (let index = 0; index < Number(values.seeds); index += 1)
  if (!(await runOne(String(Number(values.seed) + index)))) broken += 1
say(broken === 0 ? 'all seeds held' : `${broken} seeds broken`)
process.exit(broken === 0 ? 0 : 1)
