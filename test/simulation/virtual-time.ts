import type { Clock } from '../../packages/till/src/kernel/clock.ts'

/**
 * Time that passes only when nothing else happens: as soon as no port is at work, the next sleeper wakes. Hours of
 * jobs, polls and patience take as long as the work they do.
 */
export type VirtualTime = {
  nowMs(): number
  /** A clock with its own error, for one process; its sleepers die with it. */
  clockFor(life: Pick<Life, 'alive' | 'skewMs'>): Clock
  /** Work of a port: while it lasts time stands still. */
  busy<T>(work: () => Promise<T>): Promise<T>
  /** Lets time pass until `work` has ended. */
  until<T>(work: Promise<T>): Promise<T>
  /** Lets this much time pass. */
  pass(ms: number): Promise<void>
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
const stuckMs = 200

export function createVirtualTime(startMs: number): VirtualTime {
  let nowMs = startMs
  let order = 0
  let atWork = 0
  let activity = 0
  const sleepers: Sleeper[] = []
  const whenIdle: (() => void)[] = []
  const workEnded = () => new Promise<void>((resolve) => whenIdle.push(resolve))

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

  const next = (): Sleeper | undefined => {
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
    if (sleeper.life.alive) sleeper.wake()
    return true
  }

  const calm = async (over: () => boolean) => {
    let seen = activity
    for (let turns = 0; turns < calmTurns && !over(); turns += 1) {
      const waited = atWork > 0
      await (waited ? Promise.race([workEnded(), pause(stuckMs)]) : turn())
      // Work that does not move at all may itself be asleep, as a transaction is before it is tried again.
      if (waited && atWork > 0 && activity === seen) return
      if (atWork > 0 || activity !== seen) turns = -1
      seen = activity
    }
  }

  return {
    nowMs: () => nowMs,
    clockFor: (life) => ({
      nowMs: () => nowMs + life.skewMs,
      monotonicMs: () => nowMs,
      sleep: (ms, signal) => sleep(life, ms, signal),
    }),
    busy: async (work) => {
      atWork += 1
      activity += 1
      try {
        return await work()
      } finally {
        atWork -= 1
        activity += 1
        if (atWork === 0) for (const resume of whenIdle.splice(0)) resume()
      }
    },
    until: async (work) => {
      let ended = false
      const end = () => {
        ended = true
      }
      work.then(end, end)
      while (!ended) {
        await calm(() => ended)
        // A request may be on its way through a socket, which no port counts.
        const before = activity
        await pause((next()?.dueMs ?? 0) - nowMs > limitMs ? 12 : 2)
        if (!ended && activity === before) wakeNext(Number.POSITIVE_INFINITY)
      }
      return work
    },
    pass: async (ms) => {
      const untilMs = nowMs + ms
      for (;;) {
        await calm(() => false)
        if (!wakeNext(untilMs)) break
      }
      nowMs = Math.max(nowMs, untilMs)
    },
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

function remove<T>(list: T[], item: T): void {
  const index = list.indexOf(item)
  if (index >= 0) list.splice(index, 1)
}
