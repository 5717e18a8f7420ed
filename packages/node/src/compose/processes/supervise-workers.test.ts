import type { Clock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { expect, test } from 'vitest'
import { superviseWorkers, type Worker } from './supervise-workers.ts'

type Fake = Worker<string> & { index: number; end(): void }

/** Workers that serve and end when the test says so; sleeps of the clock are recorded and end at once. */
function fakes(options: { failing?: (start: number) => boolean } = {}) {
  const started: Fake[] = []
  const events: string[] = []
  const slept: number[] = []
  let nowMs = 0
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    // The limit of a drain never passes here; a wait before the next start passes at once.
    sleep: async (ms) => {
      if (ms === 40_000) await new Promise(() => {})
      slept.push(ms)
    },
  }
  const start = (index: number): Fake => {
    const number = started.length
    let end = () => {}
    let serve = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const serving = new Promise<string>((resolve) => {
      serve = () => resolve(`ready ${number}`)
    })
    const worker: Fake = {
      ...{ index, end, ended },
      ready: Promise.race([serving, ended.then(() => undefined)]),
      drain: () => {
        events.push(`drain ${number}`)
        end()
      },
      kill: end,
    }
    events.push(`start ${number} as ${index}`)
    started.push(worker)
    if (options.failing?.(number)) end()
    else serve()
    return worker
  }
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { deps: { start, clock, log: silentLog }, started, events, slept, pass }
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

test('the first worker serves before the others start, and all of them are drained at the end', async () => {
  const { deps, events } = fakes()
  const supervisor = await superviseWorkers(deps, 3)
  expect(supervisor.first).toBe('ready 0')
  await supervisor.stop()
  expect(events).toEqual(['start 0 as 0', 'start 1 as 1', 'start 2 as 2', 'drain 0', 'drain 1', 'drain 2'])
})

test('a first worker that cannot start is not tried again', async () => {
  const { deps, events } = fakes({ failing: () => true })
  const supervisor = await superviseWorkers(deps, 2)
  expect(supervisor.first).toBeUndefined()
  expect(events).toEqual(['start 0 as 0'])
  await supervisor.stop()
})

test('a worker that ends is started again, at once after a long life and later after each short one', async () => {
  const { deps, started, slept, pass } = fakes()
  const supervisor = await superviseWorkers(deps, 2)
  pass(60_000)
  started[1]?.end()
  await turns()
  expect(started.map(({ index }) => index)).toEqual([0, 1, 1])
  started[2]?.end()
  await turns()
  started[3]?.end()
  await turns()
  expect(slept).toEqual([100, 200, 400])
  await supervisor.stop()
  expect(started).toHaveLength(5)
})

test('a successor serves before its predecessor is drained, one place after the other', async () => {
  const { deps, events, started } = fakes()
  const supervisor = await superviseWorkers(deps, 2)
  events.length = 0
  expect(await supervisor.replaceAll()).toBe(true)
  expect(events).toEqual(['start 2 as 0', 'drain 0', 'start 3 as 1', 'drain 1'])
  await turns()
  // The predecessors ended as asked: nobody takes that for a crash.
  expect(started).toHaveLength(4)
  await supervisor.stop()
})

test('where a successor cannot start, the workers that serve stay', async () => {
  const { deps, events } = fakes({ failing: (start) => start === 2 })
  const supervisor = await superviseWorkers(deps, 2)
  events.length = 0
  expect(await supervisor.replaceAll()).toBe(false)
  expect(events).toEqual(['start 2 as 0'])
  await supervisor.stop()
  expect(events).toEqual(['start 2 as 0', 'drain 0', 'drain 1'])
})
