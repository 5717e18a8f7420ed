import { expect, test } from 'vitest'
import { requestPaths } from './kill-points/request-paths.ts'
import type { Row } from './kill-points/run-deaths.ts'
import { dieAtWorks, dieInRequests } from './kill-points/run-paths.ts'
import { refundOf } from './kill-points/work-paths/payouts.ts'

/**
 * A node in its own process is killed with SIGKILL before or after its port calls, and another process goes on from
 * the database and the chain alone. The buyer knows nothing but HTTP: it must end with the answer, charged exactly once.
 * A payout must end as one intent, one transfer and balanced books.
 *
 * The usual run takes every n-th death of two money paths; `npm run kill-points` takes all of them on every path.
 */
const options = { eachCall: false, workers: 1, every: 12, say: () => {} }

function expectNothingLost(rows: readonly Row[], deathsMin: number): void {
  for (const row of rows) {
    expect(row.failures).toEqual([])
    expect(row.deaths).toBeGreaterThanOrEqual(deathsMin)
  }
}

test('a process that dies at any step of a payment loses nothing and doubles nothing', async () => {
  const sale = requestPaths.filter(({ name }) => name === 'exact sale')
  const rows = await dieInRequests(
    'till',
    sale.map((path) => ({ ...path, variant: 'till' })),
    options,
  )
  expectNothingLost(rows, 2)
}, 600_000)

test('a process that dies at any step of a payout leaves one intent, one transfer and balanced books', async () => {
  const rows = await dieAtWorks('till', [refundOf('till', '/test/subscription', 3_000_000n)], {
    ...options,
    every: 20,
  })
  expectNothingLost(rows, 2)
}, 600_000)
