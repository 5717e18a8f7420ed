import { expect, test } from 'vitest'
import { knownNetworks } from '../packages/till/src/chain/network.ts'
import { createLosses, lossLimitsOf } from '../packages/till/src/gate/losses.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { openTestDatabase } from '../packages/till/src/store/testing.ts'

const wallet = (digit: number) => `0x${String(digit).repeat(40)}` as const
/** What one failed settlement costs at the lowest fee the network takes: about 60,000 gas. */
const failedOnPolygonGwei = 60_000n * 30n

test('a few dozen cheap failures on one chain close a route to nobody on either', async () => {
  const db = await openTestDatabase()
  try {
    const losses = createLosses(db.database, systemClock, lossLimitsOf(knownNetworks))
    for (let i = 0; i < 40; i += 1) await losses.record(wallet(i % 4), 'eip155:137', 'report', failedOnPolygonGwei)
    expect(await losses.allows(wallet(9), 'eip155:8453', 'report')).toBe(true)
    expect(await losses.allows(wallet(9), 'eip155:137', 'report')).toBe(true)
    await losses.record(wallet(5), 'eip155:137', 'report', 60_000_000_000n)
    expect(await losses.allows(wallet(9), 'eip155:137', 'report')).toBe(false)
    expect(await losses.allows(wallet(9), 'eip155:8453', 'report')).toBe(true)
    for (let i = 0; i < 50; i += 1) await losses.record(wallet(6), 'eip155:8453', 'other', 0n)
    expect(await losses.allows(wallet(6), 'eip155:8453', 'anything')).toBe(false)
  } finally {
    await db.close()
  }
})
