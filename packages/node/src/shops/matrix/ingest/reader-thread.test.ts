import { systemClock } from '@assay/till/kernel/clock'
import { afterAll, expect, test } from 'vitest'
import { type DemoSize, planDemo } from '../demo/plan.ts'
import { readMarketFile } from './read-file.ts'
import { openFileReader } from './reader-thread-adapter.ts'

// A thread ends when the clock says that it has been idle for long.
let idle = () => {}
const reader = openFileReader({
  ...systemClock,
  sleep: () =>
    new Promise((resolve) => {
      idle = resolve
    }),
})
afterAll(() => reader.stop())

const size: DemoSize = { symbols: 20, tradingDays: 3 }
const nowMs = Date.parse('2026-03-04T12:00:00Z')

test('the thread makes and reads every file of the demo exactly as this one does', async () => {
  for (const [index, planned] of planDemo(nowMs, size).entries()) {
    const { availableAtMs, ...file } = planned.make()
    const given = await reader.readDemo(size, index, nowMs)
    const { name, bytes } = file
    const here = readMarketFile({ name, bytes, source: planned.source }, nowMs)
    expect(given.availableAtMs).toBe(availableAtMs)
    expect(given.read).toEqual({ ...here, ...(here.status === 'read' ? { bytes: new Uint8Array(here.bytes) } : {}) })
  }
})

test('a file that is refused is refused in the thread with the same reason', async () => {
  const file = { name: 'unknown.txt', bytes: new TextEncoder().encode('nothing that we know') }
  const refused = await reader.read(file, nowMs)
  expect(refused).toEqual(readMarketFile(file, nowMs))
  expect(refused.status).toBe('refused')
})

test('the thread ends when nothing is left to read, and another one reads the next file', async () => {
  const first = await reader.readDemo(size, 0, nowMs)
  idle()
  await Promise.resolve()
  expect((await reader.readDemo(size, 0, nowMs)).read).toEqual(first.read)
})
