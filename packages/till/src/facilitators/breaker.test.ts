import { expect, test } from 'vitest'
import type { Facilitator, FacilitatorPayment } from '../contract/facilitator.ts'
import type { Clock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { withBreaker } from './breaker.ts'

const minute = 60_000

function openBreaker() {
  let nowMs = 0
  let sent = 0
  const facilitator = {
    name: 'http',
    settle: async () => {
      sent += 1
      return { status: 'unknown', reason: 'x' }
    },
  } as unknown as Facilitator
  const clock = { monotonicMs: () => nowMs } as Clock
  const breaker = withBreaker(facilitator, { clock, log: silentLog, metrics: silentMetrics })
  return {
    contradict: () => breaker.contradicted?.(),
    pass: (ms: number) => {
      nowMs += ms
    },
    sends: async () => {
      const before = sent
      const outcome = await breaker.settle({} as FacilitatorPayment, new AbortController().signal)
      if (sent === before)
        expect(outcome).toMatchObject({ status: 'refused', reason: 'facilitator_distrusted', payloadSent: false })
      return sent > before
    },
  }
}

test('three contradictions stop payments from being sent for ten minutes', async () => {
  const { contradict, sends, pass } = openBreaker()
  contradict()
  contradict()
  expect(await sends()).toBe(true)
  contradict()
  expect(await sends()).toBe(false)
  pass(10 * minute - 1)
  expect(await sends()).toBe(false)
  pass(1)
  expect(await sends()).toBe(true)
})

test('after that, one more contradiction is enough', async () => {
  const { contradict, sends, pass } = openBreaker()
  for (let n = 0; n < 3; n += 1) contradict()
  pass(10 * minute)
  expect(await sends()).toBe(true)
  contradict()
  expect(await sends()).toBe(false)
})

test('contradictions an hour apart do not add up', async () => {
  const { contradict, sends, pass } = openBreaker()
  for (let n = 0; n < 5; n += 1) {
    contradict()
    pass(60 * minute)
  }
  expect(await sends()).toBe(true)
})
