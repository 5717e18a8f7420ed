import { expect, test } from 'vitest'
import { createSince } from '../../http/index.ts'
import { fixedClock } from './intents.fixture.ts'
import { parseIntentSettings } from './settings.ts'
import { type StreamAvailability, streamUnavailable } from './stream-route.ts'

const clock = fixedClock(Date.UTC(2026, 5, 1, 12))
const settings = parseIntentSettings({}, false)

const sold = (error: number | null, figureMs: number | undefined = clock.nowMs()) => {
  const signal = { figures: 9, error, fromMs: 0, toMs: clock.nowMs() }
  const feed = { newestFigureMs: () => figureMs, signal: () => signal } as StreamAvailability['feed']
  return streamUnavailable({ feed, clock, settings, since: createSince(clock) })
}

test('the stream is sold while its errors keep the promise, and refused with the reason when they do not', () => {
  expect(sold(0.25)).toBeUndefined()
  expect(sold(0.252)).toMatchObject({
    why: 'no_signal',
    detail: 'The errors of the last day are 25.2 % of its demand; the stream promises 25 %.',
  })
  expect(sold(0.61)?.detail).toContain('61 % of its demand')
  expect(sold(null)?.detail).toContain('larger than its figures')
  expect(sold(0.1, clock.nowMs() - settings.replayMs - 1)?.detail).toContain('No figure has been published since')
})
