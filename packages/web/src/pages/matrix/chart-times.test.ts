import { expect, onTestFinished, test, vi } from 'vitest'
import { utcDate } from './chart-times.ts'

test('a chart shows a day as that day, whatever the time zone of its reader', () => {
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const offsets = new Set<number>()
  for (const zone of ['America/New_York', 'Asia/Tokyo', 'UTC']) {
    vi.stubEnv('TZ', zone)
    const seconds = Date.parse('2026-10-14') / 1000
    offsets.add(new Date(seconds * 1000).getTimezoneOffset())
    const shown = utcDate(seconds)
    expect([zone, shown.getDate(), shown.getHours()]).toEqual([zone, 14, 0])
  }
  // The zones were in fact used.
  expect(offsets.size).toBe(3)
})
