import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { defaultPlatform } from '../platform.ts'
import { untilEnough } from './until-enough.ts'

test('items that hang end once there is a result and its grace is over, and each has its own signal', async () => {
  const signals: AbortSignal[] = []
  const results = await untilEnough([...Array(30).keys()], {
    ...{ platform: defaultPlatform, atOnce: 30, enough: 30, graceMs: 1 },
    work: async (item, until) => {
      signals.push(until)
      if (item === 7) return item
      return new Promise((resolve) => until.addEventListener('abort', () => resolve(undefined)))
    },
  })
  expect(results).toEqual([7])
  expect(Math.max(...signals.map((signal) => getEventListeners(signal, 'abort').length))).toBe(1)
})
