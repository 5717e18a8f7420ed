import type { Clock } from '../../packages/till/src/kernel/clock.ts'

/**
 * Time that passes only when nothing else happens: as soon as no port is at work, the next sleeper wakes. Hours of
 * jobs, polls and patience take as long as the work they do.
 */
export type VirtualTime = {
  startMs: number
  nowMs(): number
  /** A clock with its own error, for one process; its sleepers die with it. */
  clockFor(life: Pick<Life, 'alive' | 'skewMs'> & { late?: boolean }): Clock
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
  /** Its timers strike late and together, as on a machine that has much else to do. */
  readonly late: boolean
  /** Aborted at the moment of death. */
  readonly ended: AbortSignal
  /** Aborted when its connections break: what it had handed over to them before arrives all the same. */
  readonly cutOff: AbortSignal
  end(): void
}

/** Real time: bytes on the way between two sockets of one process are counted by no port. */
const lastBytesMs = 20

export function beginLife({ late = false } = {}): Life {
  const death = new AbortController()
  const cut = new AbortController()
  return {
    get alive() {
      return !death.signal.aborted
    },
    skewMs: 0,
    late,
    ended: death.signal,
    cutOff: cut.signal,
    end: () => {
      const reason = new Error('the process died')
      death.abort(reason)
      setTimeout(() => cut.abort(reason), lastBytesMs)
    },
  }
}

/**
 * Rounds of jobs that find nothing would be most of what a run does. A sleep shorter than the first number ends
 * when the second strikes: polls of something that comes soon, then jobs by how often they come back.
 */
const ticks = [
  [100, 500],
  [1_000, 2_500],
  [2_000, 5_000],
  [5_000, 10_000],
  [30_000, 15_000],
] as const
/** Sleeps as long as this are limits of somebody's patience. */
const limitTickMs = 5_000

function lateBy(nowMs: number, ms: number): number {
  const tickMs = ticks.find(([below]) => ms < below)?.[1] ?? limitTickMs
  return Math.ceil((nowMs + ms) / tickMs) * tickMs - nowMs
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

  const begin = () => {
    atWork += 1
    activity += 1
  }
  const end = () => {
    atWork -= 1
    activity += 1
    if (atWork === 0) for (const resume of whenIdle.splice(0)) resume()
  }

  const sleep = (life: Pick<Life, 'alive'>, ms: number, signal?: AbortSignal) =>
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
      sleep: (ms, signal) => sleep(life, life.late ? lateBy(nowMs, ms) : ms, signal),
    }),
    busy: async (work) => {
      begin()
      try {
        return await work()
      } finally {
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
