import { expect, test } from 'vitest'
import type { Clock } from './clock.ts'
import { type LoopHost, systemLoopHost, watchLoop } from './loop-watch.ts'

/** A clock whose ticks the test gives, each with the time, CPU and collection that it took. */
function scene() {
  const lines: { message: string; fields: Record<string, unknown> }[] = []
  const observed: { name: string; ms: number; labels: unknown }[] = []
  let nowMs = 0
  let cpuMs = 0
  let gcMs = 0
  let wake = () => {}
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async () => {},
  }
  const note = (fields: object, message: string) => {
    lines.push({ message, fields: { ...fields } })
  }
  const every: LoopHost['every'] = (_ms, call) => {
    wake = call
  }
  const host: LoopHost = { cpuMs: () => cpuMs, gcMs: () => gcMs, every, close: () => {} }
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
  const tick = async (took: { ms: number; cpu?: number; gc?: number }) => {
    nowMs += took.ms
    cpuMs += took.cpu ?? took.ms
    gcMs = took.gc ?? 0
    wake()
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
  }
  return { watch, tick, lines, observed }
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
