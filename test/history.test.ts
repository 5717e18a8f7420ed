import { expect, test } from 'vitest'
import { compareWork } from './harness/history/compare-work.ts'
import { unexplainedOf } from './harness/history/unanswered-routes.ts'

// A sale leaves eleven rows: these are 11,000 and 110,000. `npm run scale -- history` does the same with millions.
test('no job and no route reads more the longer the past is', async () => {
  const { grown, outcomes } = await compareWork({
    days: 120,
    sizes: [
      { sales: 1_000, wallets: 100 },
      { sales: 10_000, wallets: 1_000 },
    ],
  })
  expect([...grown, ...unexplainedOf(outcomes)]).toEqual([])
}, 300_000)
