import { expect, test } from 'vitest'
import { type Clock, systemClock } from './clock.ts'
import { type LoopHost, systemLoopHost, watchLoop } from './loop-watch.ts'

/** A clock whose ticks the test gives, each with the time, CPU and collection that it took. */
function scene() {
  const lines: { message: string; fields: Record<string, unknown> }[] = []
  const observed: { name: string; ms: number; labels: unknown }[] = []
  let nowMs = 0
  let cpuMs = 0
  let gcMs = 0
  let wake = () => {}
  let everyMs = 0
  let longestMs = 0
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async () => {},
  }
  const note = (fields: object, message: string) => {
    lines.push({ message, fields: { ...fields } })
  }
  const every: LoopHost['every'] = (ms, call) => {
    everyMs = ms
    wake = call
  }
  const host: LoopHost = {
    cpuMs: () => cpuMs,
    gcMs: () => gcMs,
    every,
    measure: () => {},
    longestMs: () => longestMs,
    close: () => {},
  }
  const watch = watchLoop({
    clock,
    host,
    log: { info: note, warn: note, error: note },
    metrics: {
      count: () => {},
      gauge: () => {},
      observeMs: (name, ms, labels) => observed.push({ name, ms, labels }),
    },
  })
  const tick = async (took: { ms: number; cpu?: number; gc?: number; longest?: number }) => {
    nowMs += took.ms
    cpuMs += took.cpu ?? took.ms
    gcMs = took.gc ?? 0
    longestMs = took.longest ?? 0
    wake()
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
  }
  return { watch, tick, lines, observed, everyMs: () => everyMs }
}

test('a stall is recorded with the work under way, the requests that came and its cause', async () => {
  const { watch, tick, lines, observed } = scene()
  let end = () => {}
  const work = watch.during('ledger.seal', () => new Promise<void>((resolve) => (end = resolve)))
  await tick({ ms: 20 })
  watch.recordRequest()
  await tick({ ms: 300, cpu: 290 })
  end()
  await work
  await tick({ ms: 20 })
  expect(observed).toEqual([{ name: 'loop_stall', ms: 300, labels: { cause: 'work' } }])
  expect(lines).toEqual([
    {
      message: 'the event loop was blocked',
      fields: { stalls: 1, ms: 300, cpuMs: 290, gcMs: 0, cause: 'work', work: ['ledger.seal'], requests: 1 },
    },
  ])
  await watch.stop()
})

test('collections and a machine that was busy otherwise are distinguished from work', async () => {
  const { watch, tick, observed, lines } = scene()
  await tick({ ms: 100, cpu: 5 })
  await tick({ ms: 20 })
  await tick({ ms: 100 })
  await tick({ ms: 20, gc: 90 })
  await tick({ ms: 50 })
  await tick({ ms: 20 })
  expect(observed.map(({ labels }) => labels)).toEqual([{ cause: 'machine' }, { cause: 'gc' }])
  expect(lines.map(({ message }) => message)).toEqual(['the process was not scheduled', 'the event loop was blocked'])
  await watch.stop()
})

test('every stall is counted, and one line in ten minutes names the worst of them', async () => {
  const { watch, tick, lines, observed } = scene()
  for (const ms of [60, 500, 70]) await tick({ ms })
  for (let round = 0; round < 5_000; round += 1) await tick({ ms: 50 })
  await tick({ ms: 90 })
  for (let round = 0; round < 8_000; round += 1) await tick({ ms: 50 })
  await tick({ ms: 80 })
  await tick({ ms: 20 })
  expect(observed).toHaveLength(5)
  expect(lines.map(({ fields }) => [fields['stalls'], fields['ms']])).toEqual([
    [1, 60],
    [4, 500],
  ])
  await watch.stop()
})

test('while it does little, a process is looked at once a second, and every stall is still recorded', async () => {
  const { watch, tick, observed, everyMs, lines } = scene()
  const beQuiet = async () => {
    for (let ticks = 0; ticks < 506; ticks += 1) await tick({ ms: 20, cpu: 0 })
  }
  await beQuiet()
  expect(everyMs()).toBe(1_000)
  await tick({ ms: 1_000, cpu: 9, longest: 30 })
  await watch.during('ledger.seal', async () => {})
  await tick({ ms: 1_000, cpu: 90, longest: 80 })
  expect(everyMs()).toBe(20)
  await tick({ ms: 20 })
  expect(observed).toEqual([{ name: 'loop_stall', ms: 80, labels: { cause: 'work' } }])
  expect(lines[0]?.fields['work']).toEqual(['ledger.seal'])
  await beQuiet()
  await tick({ ms: 1_000, cpu: 900 })
  expect(everyMs(), 'after much work').toBe(20)
  await watch.stop()
})

test('a process at rest sees how long it was blocked', async () => {
  const host = systemLoopHost()
  host.measure(true)
  await systemClock.sleep(100)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  await expect.poll(() => host.longestMs()).toBeGreaterThanOrEqual(199)
  host.close()
})

test('the collections of this process are seen', async () => {
  const host = systemLoopHost()
  const garbage: unknown[] = []
  await expect
    .poll(() => {
      for (let made = 0; made < 200_000; made += 1) garbage[made % 1_000] = { made, text: `${made}` }
      return host.gcMs(0, Number.POSITIVE_INFINITY)
    })
    .toBeGreaterThan(0)
  expect(host.cpuMs()).toBeGreaterThan(0)
  host.close()
})
