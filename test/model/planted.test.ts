import { expect, test } from 'vitest'
import { plannedFaults } from '../planted/faults.ts'
import { explorePlanted } from './explore-planted.ts'

const isOfTheTill = (file: string) => file.startsWith('packages/till/')
const all = plannedFaults.flatMap(({ model, ...fault }) =>
  model && 'bound' in model ? [{ ...fault, bound: model.bound }] : [],
)
/** One for each of these bounds in every run; `npm run model:faults` plants all of them. */
const everyRun = ['a key signed again, and a facilitator that lies', 'a payee that two databases share', 'a restore']
const found =
  process.env['ASSAY_PROOFS'] === undefined
    ? everyRun.flatMap((bound) => all.find((one) => one.bound === bound) ?? [])
    : all

test('every planted fault of the till is found by the model, or says why it is outside of it', () => {
  expect(plannedFaults.filter(({ file, model }) => isOfTheTill(file) && !model).map(({ name }) => name)).toEqual([])
})

test.each(found)('the model finds "$name"', async ({ bound, ...fault }) => {
  const { violation } = await explorePlanted(fault, bound)
  expect(violation?.trace.length).toBeGreaterThan(0)
  // By a rule that it breaks, not by code that cannot run any more.
  expect(violation?.what).not.toContain('the code failed')
  process.stdout.write(`${fault.name}: ${violation?.what} (${violation?.trace.length} steps)\n`)
})

/** What the database guards, and nobody else: without it the model goes wrong, so it is not there for nothing. */
const store = 'test/model/abstract-store.ts'
const guards = [
  {
    name: 'a state changes only from where the move starts',
    fn: 'apply',
    find: '!mayMove(move, facts, worker && { owner: BigInt(worker.owner), attempt: worker.attempt })',
    replace: 'false',
    bound: 'a lease that runs out under a request',
  },
  {
    name: 'a claim that may have been sold before a restore is not credited',
    fn: 'credit',
    find: '!wasHeld && isInGap({ blockNumber: BigInt(seen.at) }, gapOf(store))',
    replace: 'false',
    bound: 'a sale, a restore and a reorganisation',
  },
]

test.each(guards)('the model needs the guard of the database: $name', async ({ bound, ...guard }) => {
  const { violation } = await explorePlanted({ ...guard, file: store }, bound)
  expect(violation?.trace.length).toBeGreaterThan(0)
})
