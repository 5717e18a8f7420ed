// npm run simulate -- --seed N --steps M [--seeds K] [--workers W] [--results FILE] [--shrink R] [--keep] [--plant NAME], or --kept
import { parseArgs } from 'node:util'
import { startTestServer, testServerVariable } from '../../packages/till/src/store/testing.ts'
import { wholeNumber } from '../harness/whole-number.ts'
import { plantedFaults } from './planted-faults.ts'
import { playKept } from './play-kept.ts'
import { type Played, playSeed } from './play-seed.ts'
import { asRegression, keepRegression, readRegressions, regressionsFile } from './regressions.ts'
import { runMany } from './run-many.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '200' },
    /** How many seeds, from the first one on. */
    seeds: { type: 'string', default: '1' },
    /** How many of them at once, each in its own process that gives way to everything else. */
    workers: { type: 'string' },
    /** Where it is written which seeds have been played; those are left out. */
    results: { type: 'string' },
    /** How many runs may be spent on thinning out a failing list of steps. */
    shrink: { type: 'string', default: '60' },
    /** Puts what is left of a failing list into regressions.json, which --kept and test runs play again. */
    keep: { type: 'boolean', default: false },
    /** Plays what regressions.json has, and nothing else. */
    kept: { type: 'boolean', default: false },
    /** A fault to put in, to see it found. */
    plant: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
})

const first = wholeNumber('seed', values.seed, 0)
const seeds = wholeNumber('seeds', values.seeds, 1)
const plant = values.plant === undefined ? undefined : plantedFaults[values.plant]
if (values.plant !== undefined && plant === undefined)
  throw new Error(`--plant takes one of: ${Object.keys(plantedFaults).join(', ')}`)
if (values.keep && plant !== undefined) throw new Error('--keep is for faults of the node, not for planted ones')
const isMany = values.workers !== undefined || values.results !== undefined
if (isMany && plant !== undefined) throw new Error('--plant is for one process, without --workers and --results')
const wanted = {
  steps: wholeNumber('steps', values.steps, 1),
  shrinkRuns: wholeNumber('shrink', values.shrink, 0),
  ...(plant === undefined ? {} : { plant }),
}

const say = (text: string) => process.stdout.write(`${text}\n`)
let broken = 0
let lost = 0

async function tell(played: Played): Promise<void> {
  for (const line of played.lines) say(line)
  if (played.held) return
  broken += 1
  if (values.keep) {
    await keepRegression(regressionsFile, played.regression)
    say('kept in test/simulation/regressions.json')
  } else say(`to keep it, say --keep or add to test/simulation/regressions.json:\n${asRegression(played.regression)}`)
}

// One database server for all runs: each of them has its own database.
const server = await startTestServer()
process.env[testServerVariable] = server.url
try {
  if (values.kept) broken = (await playKept(await readRegressions(), say)).length
  else if (isMany)
    await runMany({
      ...{ first, seeds, wanted, file: values.results, databaseUrl: server.url },
      workers: wholeNumber('workers', values.workers ?? '1', 1),
      onPlayed: async (played, left) => {
        await tell(played)
        say(`  ${left} seeds left`)
      },
      onLost: (seed, error) => {
        lost += 1
        say(`seed ${seed}: NOT PLAYED, ask for it again: ${error}`)
      },
    })
  else
    for (let seed = first; seed < first + seeds; seed += 1)
      await tell(
        await playSeed({ ...wanted, seed: String(seed) }, (number, { a, b, c }, place) => {
          if (values.verbose) say(`  ${place} ${a} ${b} ${c}`)
          else if (number > 0 && number % 100 === 0) say(`  seed ${seed}: ${number} steps`)
        }),
      )
  say(broken + lost === 0 ? 'all seeds held' : `${broken} seeds broken, ${lost} not played`)
} finally {
  await server.stop()
}
process.exit(broken + lost === 0 ? 0 : 1)
