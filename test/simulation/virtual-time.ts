import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../../packages/till/src/kernel/clock.ts'

/**
 * Time that passes only when nothing else happens: as soon as no port is at work, the next sleeper wakes. Hours of
 * jobs, polls and patience take as long as the work they do.
 */
export type VirtualTime = {
  startMs: number
  nowMs(): number
  /** A clock with its own error, for one process; its sleepers die with it. */
  clockFor(life: Pick<Life, 'alive' | 'skewMs'>): Clock
  /** Work of a port: while it lasts time is fixed. */
  busy<T>(work: () => Promise<T>): Promise<T>
  /** Lets time pass until `work` has ended; that of `patienceMs` may do much that no port counts. */
  until<T>(work: Promise<T>, patienceMs?: number): Promise<T>
  /** Lets this much time pass. */
  pass(ms: number): Promise<void>
  /** The same as a slow machine sees it: who sleeps shorter than a step wakes once in each. */
  passInSteps(ms: number, stepMs: number): Promise<void>
}

/** One process of the node: it can be ended without a chance to tidy up, and its clock may be wrong. */
export type Life = {
  readonly alive: boolean
  skewMs: number
  /** Aborted at the moment of death. */
  readonly ended: AbortSignal
  end(): void
}

export function beginLife(): Life {
  const death = new AbortController()
  return {
    get alive() {
      return !death.signal.aborted
    },
    skewMs: 0,
    ended: death.signal,
    end: () => death.abort(new Error('the process died')),
  }
}

type Sleeper = { dueMs: number; order: number; life: Pick<Life, 'alive'>; wake(): void }

/** Event-loop turns without any work before time moves; sockets of this machine answer within them. */
const calmTurns = 4
/** A sleep this long is a limit rather than a pause: before it strikes, slow work gets a real moment to show itself. */
const limitMs = 1_000
/** Work that does not move at all for so long waits for something that only time brings. */
const stuckMs = 5_000

export function createVirtualTime(startMs: number): VirtualTime {
  let nowMs = startMs
  let order = 0
  let atWork = 0
  let activity = 0
  const sleepers: Sleeper[] = []
  const whenIdle: (() => void)[] = []
  const workEnded = () => new Promise<void>((resolve) => whenIdle.push(resolve))
  const working = new AsyncLocalStorage<{ over: boolean }>()

  const begin = () => {
    atWork += 1
    activity += 1
  }
  const end = () => {
    atWork -= 1
    activity += 1
    if (atWork === 0) for (const resume of whenIdle.splice(0)) resume()
  }

  /** Work that sleeps is no work meanwhile, as a transaction before it is tried again. */
  const sleep = async (life: Pick<Life, 'alive'>, ms: number, signal?: AbortSignal) => {
    const work = working.getStore()
    if (!work || work.over) return rest(life, ms, signal)
    end()
    try {
      await rest(life, ms, signal)
    } finally {
      begin()
    }
  }

  const rest = (life: Pick<Life, 'alive'>, ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      order += 1
      const stop = () => {
        remove(sleepers, sleeper)
        reject(signal?.reason)
      }
      const sleeper: Sleeper = {
        dueMs: nowMs + Math.max(0, ms),
        order,
        life,
        wake: () => {
          signal?.removeEventListener('abort', stop)
          resolve()
        },
      }
      sleepers.push(sleeper)
      signal?.addEventListener('abort', stop, { once: true })
    })

  /** Those of a dead process never wake, and no time passes for them. */
  const next = (): Sleeper | undefined => {
    for (const dead of sleepers.filter(({ life }) => !life.alive)) remove(sleepers, dead)
    let first: Sleeper | undefined
    for (const one of sleepers)
      if (!first || one.dueMs < first.dueMs || (one.dueMs === first.dueMs && one.order < first.order)) first = one
    return first
  }

  const wakeNext = (untilMs: number): boolean => {
    const sleeper = next()
    if (!sleeper || sleeper.dueMs > untilMs) return false
    remove(sleepers, sleeper)
    nowMs = Math.max(nowMs, sleeper.dueMs)
    activity += 1
    sleeper.wake()
    return true
  }

  const calm = async (over: () => boolean) => {
    let seen = activity
    for (let turns = 0; turns < calmTurns && !over(); turns += 1) {
      const waited = atWork > 0
      await (waited ? Promise.race([workEnded(), pause(stuckMs)]) : turn())
      if (waited && atWork > 0 && activity === seen) return
      if (atWork > 0 || activity !== seen) turns = -1
      seen = activity
    }
  }

  const pass = async (ms: number) => {
    const untilMs = nowMs + ms
    for (;;) {
      await calm(() => false)
      if (!wakeNext(untilMs)) break
    }
    nowMs = Math.max(nowMs, untilMs)
  }

  return {
    startMs,
    nowMs: () => nowMs,
    clockFor: (life) => ({
      nowMs: () => nowMs + life.skewMs,
      monotonicMs: () => nowMs,
      sleep: (ms, signal) => sleep(life, ms, signal),
    }),
    busy: async (work) => {
      const counted = { over: false }
      begin()
      try {
        return await working.run(counted, work)
      } finally {
        counted.over = true
        end()
      }
    },
    until: async (work, patienceMs) => {
      let ended = false
      const stop = () => {
        ended = true
      }
      work.then(stop, stop)
      while (!ended) {
        await calm(() => ended)
        // A request may be on its way through a socket, which no port counts.
        const before = activity
        await pause(patienceMs ?? ((next()?.dueMs ?? 0) - nowMs > limitMs ? 12 : 2))
        // What came in while this process had no processor is taken in before anybody wakes.
        for (let turns = 0; turns < calmTurns; turns += 1) await turn()
        if (!ended && activity === before) wakeNext(Number.POSITIVE_INFINITY)
      }
      return work
    },
    pass,
    passInSteps: async (ms, stepMs) => {
      for (const endMs = nowMs + ms; nowMs < endMs; await pass(0)) {
        await calm(() => false)
        nowMs = Math.min(endMs, nowMs + stepMs)
      }
    },
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

function remove<T>(list: T[], item: T): void {
  const index = list.indexOf(item)
  if (index >= 0) list.splice(index, 1)
}
