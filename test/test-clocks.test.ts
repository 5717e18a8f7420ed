import { expect, test } from 'vitest'
// @ts-expect-error a script without types
import { checkTestClocks, measuresTime } from '../scripts/check-test-clocks.mjs'

test.each([
  'const startedMs = performance.now()',
  'expect(performance.now() - startedMs).toBeLessThan(8_000)',
  'expect(Date.now() - startedAt).toBeLessThan(100)',
  'const tookMs = Date.now() - before',
  'expect(Math.abs(Date.now() / 1000 - Number(created))).toBeLessThan(120)',
  'const tookMs = -startedMs + systemClock.nowMs() - Date.now()',
  'const elapsed = systemClock.nowMs() - startedMs',
  'const before = process.cpuUsage()',
  'const [seconds] = process.hrtime(started)',
])('%s measures time', (line) => {
  expect(measuresTime(line)).toBe(true)
})

test.each([
  'const deadline = Date.now() + 30_000',
  'while (Date.now() < deadline) await sleep(20)',
  'const past = new Date(Date.now() - 600_000).toISOString()',
  'from: new Date(Date.now() - 9 * day),',
  'until: new Date(Date.now() - day),',
  'const created = Math.floor(Date.now() / 1000)',
  'settledAtMs: systemClock.nowMs() - 1_000,',
  'const toMs = Math.floor((Date.now() - 86_400_000) / 3_600_000) * 3_600_000',
  '// performance.now() would tie this to the machine',
])('%s does not', (line) => {
  expect(measuresTime(line)).toBe(false)
})

test('no test says how long something may take', () => {
  expect(checkTestClocks(['packages', 'test', 'bench'])).toEqual([])
})
