import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import type { Database } from '@assay/till/store/database'
import { expect, test } from 'vitest'
import { followPages } from './follow-pages.ts'
import type { MatchEngine } from './match-engine.ts'

test('many wake-ups in the time of one sleep leave no sleep behind', async () => {
  let tell = () => {}
  let asleep = 0
  const clock = {
    ...systemClock,
    sleep: async (ms: number, signal?: AbortSignal) => {
      asleep += 1
      await systemClock.sleep(ms, signal).finally(() => {
        asleep -= 1
      })
    },
  }
  let looks = 0
  const database = {
    listen: async (_channel: string, onEvent: () => void) => {
      tell = onEvent
      return async () => {}
    },
    query: async () => {
      looks += 1
      return { rows: [{ seq: 0n, scored: null }] }
    },
  } as unknown as Database
  const engine = { indexedTo: async () => 0 } as unknown as MatchEngine
  const following = await followPages({ database, clock, log: silentLog }, engine)
  await following.caughtUp
  for (let news = 0; news < 30; news += 1) {
    const before = looks
    await expect.poll(() => asleep, { interval: 1 }).toBeGreaterThan(0)
    tell()
    await expect.poll(() => looks, { interval: 1 }).toBeGreaterThan(before)
  }
  expect(asleep).toBeLessThanOrEqual(1)
  await following.stop()
  expect(asleep).toBe(0)
})
