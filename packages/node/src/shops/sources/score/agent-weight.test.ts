import fc from 'fast-check'
import { expect, test } from 'vitest'
import { weighAgents } from './agent-weight.ts'

const micro = (max: number) => fc.bigInt({ min: 0n, max: BigInt(max) * 1_000_000n })
const agents = fc.array(
  fc.record({
    cluster: fc.constantFrom('a', 'b', 'c'),
    seed: fc.constant(false),
    bondMicro: micro(300),
    spendMicro: micro(2_000),
    ageMs: fc.integer({ min: 0, max: 10 ** 11 }),
    bondAgeMs: fc.integer({ min: 0, max: 10 ** 11 }),
  }),
  { maxLength: 12 },
)

test('however wallets are joined, none has more weight than its own stake is of a full one, and a cluster at most one', () => {
  fc.assert(
    fc.property(agents, (all) => {
      const weights = weighAgents(all)
      for (const [at, { bondMicro, spendMicro }] of all.entries())
        expect(weights[at]).toBeLessThanOrEqual(Math.min(1, Number(bondMicro) / 1e8 + Number(spendMicro) / 1e9 + 1e-9))
      for (const name of ['a', 'b', 'c']) {
        const sum = all.reduce((total, { cluster }, at) => total + (cluster === name ? (weights[at] as number) : 0), 0)
        expect(sum).toBeLessThanOrEqual(1 + 1e-9)
      }
    }),
  )
})

test('an agent that the operator trusts keeps its weight, and lends it to nobody that is joined to it', () => {
  const nothing = { cluster: 'a', seed: false, bondMicro: 0n, spendMicro: 0n, ageMs: 10 ** 11, bondAgeMs: 0 }
  expect(weighAgents([{ ...nothing, seed: true }, nothing, { ...nothing, seed: true }])).toEqual([1, 0, 1])
})
