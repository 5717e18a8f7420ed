import type { Clock } from '@assay/till/kernel/clock'
import { expect, test } from 'vitest'
import { createHostTurns } from './host-turns.ts'

/** Time passes only by sleeping. */
function openTurns(options: { waitingMax?: number; waitMsMax?: number } = {}) {
  let nowMs = 0
  const clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async (ms: number) => {
      nowMs += ms
    },
  } satisfies Clock
  const events: string[] = []
  const turns = createHostTurns({ clock, pauseMs: 500, ...options })
  const ask = (host: string, name: string, fails = false) =>
    turns.take(host, async () => {
      events.push(`${name} begins at ${nowMs}`)
      await Promise.resolve()
      events.push(`${name} ends`)
      if (fails) throw new Error('unreachable')
      return name
    })
  return { ask, events }
}

test('many citations of one host at once ask it one after the other, with a pause', async () => {
  const { ask, events } = openTurns()
  const [, second] = await Promise.allSettled([ask('a.com', '1'), ask('a.com', '2', true), ask('a.com', '3')])
  expect(second).toMatchObject({ status: 'rejected' })
  expect(events).toEqual(['1 begins at 0', '1 ends', '2 begins at 500', '2 ends', '3 begins at 1000', '3 ends'])
})

test('another host is not waited for', async () => {
  const { ask, events } = openTurns()
  await Promise.all([ask('a.com', '1'), ask('b.com', '2')])
  expect(events).toEqual(['1 begins at 0', '2 begins at 0', '1 ends', '2 ends'])
})

test('a line that is too long or too slow is refused without a request', async () => {
  const long = openTurns({ waitingMax: 2 })
  const [, , third] = await Promise.allSettled(['1', '2', '3'].map((name) => long.ask('a.com', name)))
  expect(third).toMatchObject({ status: 'rejected', reason: { code: 'not_ready' } })
  expect(await long.ask('a.com', '4')).toBe('4')
  const slow = openTurns({ waitMsMax: 700 })
  const outcomes = await Promise.allSettled(['1', '2', '3'].map((name) => slow.ask('a.com', name)))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(slow.events).toHaveLength(4)
})
