import { expect, test } from 'vitest'
import { plantedFaults } from './simulation/planted-faults.ts'
import { readRegressions } from './simulation/regressions.ts'
import { runSeed } from './simulation/run-seed.ts'
import { stepsOf } from './simulation/steps.ts'

/** A taste of `npm run simulate`, which goes on for as long as somebody lets it. */
test('buyers, attackers, crashes, reorgs and liars for a while: every rule holds', async () => {
  const result = await runSeed({ seed: '7', steps: stepsOf('7', 30) })
  expect(result).toMatchObject({ status: 'held', steps: 30 })
}, 180_000)

const faultSteps = stepsOf('1', 20, ['buy', 'impatient_buy', 'retry_fresh', 'resend', 'bend_facilitator', 'pass'])

test.each([
  ['no claim', 'promise 1'],
  ['double settle', 'promise 4'],
  ['missing posting', 'I6'],
])(
  'a node with the fault "%s" is found out',
  async (name, rule) => {
    const plant = plantedFaults[name]
    expect(plant).toBeDefined()
    const result = await runSeed({ seed: '1', steps: faultSteps, ...(plant === undefined ? {} : { plant }) })
    expect(result).toMatchObject({ status: 'violated', rule })
  },
  180_000,
)

test('what the simulation once found stays mended', async () => {
  for (const { found, seed, steps } of await readRegressions())
    expect(await runSeed({ seed, steps }), found).toMatchObject({ status: 'held' })
}, 300_000)
