import { expect, test } from 'vitest'
import { Broken } from '../harness/broken.ts'
import type { KillPlan } from '../harness/kill-points.ts'
import { asJson, table } from './report.ts'
import { type Life, runDeaths } from './run-deaths.ts'

const calls = [
  'db select due',
  'db commit',
  'tx insert into payout',
  'tx ledger_post',
  'rpc eth_call',
  'rpc eth_sendRawTransaction',
  'db select due',
  'db select due',
]
const life: Life = { calls, rounds: [6, 7, 8], died: false, recoveryMs: 0 }

async function deaths(options: { eachCall?: boolean; ends?(plan: KillPlan): void } = {}) {
  const plans: KillPlan[] = []
  const row = await runDeaths({
    path: 'a path',
    every: 1,
    eachCall: options.eachCall ?? false,
    workers: 2,
    live: async (_worker, plan) => {
      if (!plan) return life
      plans.push(plan)
      options.ends?.(plan)
      return { calls: [], died: true, recoveryMs: 7 }
    },
    check: async () => {},
    say: () => {},
  })
  return { row, plans: plans.map(({ at, when }) => `${when} ${at}`).sort() }
}

test('a death before and after whatever can change something, and one within each transaction', async () => {
  const { plans, row } = await deaths()
  expect(plans).toEqual(['after 2', 'after 4', 'after 6', 'before 2', 'before 6'])
  expect(row).toMatchObject({ calls: 8, deaths: 5, recovered: 5, lost: 0, doubled: 0, slowestMs: 7 })
})

test('at each call if that is wanted, and once in rounds that are the same', async () => {
  expect((await deaths({ eachCall: true })).plans).toHaveLength(14)
})

test('what is lost and what is doubled is distinguished, by path and by call', async () => {
  const { row } = await deaths({
    ends: ({ at, when }) => {
      if (at === 6) throw new Broken(when === 'after' ? 'doubled' : 'lost', 'paid')
    },
  })
  expect(row).toMatchObject({ deaths: 5, recovered: 3, lost: 1, doubled: 1 })
  expect(row.failures.sort()[0]).toBe('a path, killed after call 6 (rpc eth_sendRawTransaction): doubled: paid')
  expect(table([row])).toMatch(/a path +8 +5 +3 +1 +1/)
  expect(JSON.parse(asJson([row]))).toMatchObject({ deaths: 5, lost: 1, doubled: 1 })
})
