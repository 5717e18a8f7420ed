import { expect, test } from 'vitest'
import { compareWork, grownOf } from './harness/history/compare-work.ts'
import { unexplainedOf } from './harness/history/unanswered-routes.ts'

// A sale leaves eleven rows: these are 11,000 and 110,000. `npm run scale -- history` does the same with millions.
test('no job and no route reads more the longer the past is', async () => {
  const { grown, faults, outcomes } = await compareWork({
    days: 120,
    sizes: [
      { sales: 1_000, wallets: 100 },
      { sales: 10_000, wallets: 1_000 },
    ],
  })
  expect([...grown, ...faults, ...unexplainedOf(outcomes)].join('\n')).toBe('')
}, 300_000)

test('a read that stops growing at its limit is bounded, one that keeps growing is not', () => {
  const [first, second, third] = [
    { page: 100, all: 40, tree: 3 },
    { page: 1_000, all: 126, tree: 4 },
    { page: 1_010, all: 400, tree: 5 },
  ].map((blocks) =>
    Object.fromEntries(Object.entries(blocks).map(([name, n]) => [name, { blocks: n, byTable: {}, outcome: '' }])),
  )
  expect(grownOf(first ?? {}, second ?? {}, third ?? {})).toEqual(['all'])
})
