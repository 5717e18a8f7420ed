import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** What the process and its machine did meanwhile. */
export type LoopHost = {
  /** Spent by this process since it started, all threads together. */
  cpuMs(): number
  /** Spent on garbage collection between two moments of the monotonic clock. */
  gcMs(fromMs: number, toMs: number): number
  /**
   * Calls again and again, instead of what it called before, until it is closed. Fifty times a second, a promise and a signal each
   * would cost a percent of a core.
   */
  every(ms: number, call: () => void): void
  /** Begins or ends to keep a timer of the same kind without calling anybody, which takes a third of the CPU. */
  measure(on: boolean): void
  /** The longest time between two turns of that timer. */
  longestMs(): number
  close(): void
}

export type LoopWatch = {
  /** Names the work for as long as it is under way. */
  during<T>(name: string, work: () => Promise<T>): Promise<T>
  recordRequest(): void
  stop(): Promise<void>
}

/** Nothing that runs between two turns may take longer: every other caller waits for it. */
const stallMs = 50
const tickMs = 20
/** After so long with no stall and at most `littleMs` of CPU, ticks come every `restMs` until there is either. */
const quietMs = 10_000
const littleMs = 500
const restMs = 1_000
const logEveryMs = 600_000
/** A stall is attributed to garbage collection, or to another process on the core, from this share of its time. */
const mainShare = 0.6

type Stall = {
  ms: number
  cpuMs: number
  gcMs: number
  cause: 'gc' | 'machine' | 'work'
  work: string[]
  requests: number
}

/**
 * Notices when the event loop is blocked, and what was running then. A timer that should come every 20 ms comes late
 * by as much as the loop was held up, so a stall is known to within one tick and every one above the limit is seen.
 * While the process does little, Node itself keeps that timer and is asked once a second: what was running
 * is then all that ran in that second.
 */
export function watchLoop(ports: { clock: Clock; log: Log; metrics: Metrics; host: LoopHost }): LoopWatch {
  const { clock, log, metrics, host } = ports
  const inProgress = new Map<string, number>()
  /** What was under way at any time since it was last read. */
  let seen = new Set<string>()
  let requests = 0
  const unlogged = {
    own: { count: 0, loggedMs: Number.NEGATIVE_INFINITY, worst: undefined as Stall | undefined },
    machine: { count: 0, loggedMs: Number.NEGATIVE_INFINITY, worst: undefined as Stall | undefined },
  }

  const record = (stall: Stall, nowMs: number) => {
    metrics.observeMs('loop_stall', stall.ms, { cause: stall.cause })
    // Where the machine is busy elsewhere, this process can change nothing about it.
    const isOwn = stall.cause !== 'machine'
    const kept = isOwn ? unlogged.own : unlogged.machine
    kept.count += 1
    if (!kept.worst || stall.ms > kept.worst.ms) kept.worst = stall
    if (nowMs - kept.loggedMs < logEveryMs) return
    const line = { stalls: kept.count, ...kept.worst }
    log.info(line, isOwn ? 'the event loop was blocked' : 'the process was not scheduled')
    Object.assign(kept, { count: 0, loggedMs: nowMs, worst: undefined })
  }

  const read = () => {
    const work = [...seen]
    seen = new Set(inProgress.keys())
    return { atMs: clock.monotonicMs(), cpuMs: host.cpuMs(), requests, work }
  }
  let last = read()
  let late: (Omit<Stall, 'gcMs' | 'cause'> & { fromMs: number; toMs: number }) | undefined
  /** One tick later, for collections are reported in their own turn. */
  const recordLate = (nowMs: number) => {
    if (late) record(explain(late, host.gcMs(late.fromMs, late.toMs)), nowMs)
    late = undefined
  }
  const lateBy = (ms: number, now: typeof last) =>
    ms > stallMs
      ? {
          ...{ fromMs: last.atMs, toMs: now.atMs, ms, cpuMs: now.cpuMs - last.cpuMs },
          ...{ work: now.work, requests: now.requests - last.requests },
        }
      : undefined

  const watchClosely = () => {
    let busy = last
    let measures = false
    const measure = (on: boolean) => {
      if (on !== measures) host.measure(on)
      measures = on
    }
    host.every(tickMs, () => {
      const now = read()
      recordLate(now.atMs)
      late = lateBy(now.atMs - last.atMs, now)
      last = now
      if (late || now.cpuMs - busy.cpuMs > littleMs) busy = now
      const quietForMs = now.atMs - busy.atMs
      // Both for a moment, for the first turn is not measured.
      measure(quietForMs >= quietMs)
      if (quietForMs >= quietMs + 5 * tickMs) rest()
    })
  }
  const rest = () =>
    host.every(restMs, () => {
      const now = read()
      recordLate(now.atMs)
      late = lateBy(host.longestMs(), now)
      const isBusy = late || now.cpuMs - last.cpuMs > littleMs
      last = now
      if (!isBusy) return
      host.measure(false)
      watchClosely()
    })
  watchClosely()
  return {
    during: async (name, work) => {
      inProgress.set(name, (inProgress.get(name) ?? 0) + 1)
      seen.add(name)
      try {
        return await work()
      } finally {
        const left = (inProgress.get(name) ?? 1) - 1
        if (left === 0) inProgress.delete(name)
        else inProgress.set(name, left)
      }
    },
    recordRequest: () => {
      requests += 1
    },
    stop: async () => host.close(),
  }
}

function explain({ ms, cpuMs, work, requests }: Omit<Stall, 'gcMs' | 'cause'>, gcMs: number): Stall {
  const cause = gcMs > ms * mainShare ? 'gc' : cpuMs < ms * (1 - mainShare) ? 'machine' : 'work'
  return { ms: Math.round(ms), cpuMs: Math.round(cpuMs), gcMs: Math.round(gcMs), cause, work, requests }
}

const remembered = 64

export function systemLoopHost(): LoopHost {
  const collections: { fromMs: number; ms: number }[] = []
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) collections.push({ fromMs: startTime, ms: duration })
    collections.splice(0, collections.length - remembered)
  })
  observer.observe({ entryTypes: ['gc'] })
  const delays = monitorEventLoopDelay({ resolution: tickMs })
  let timer: NodeJS.Timeout | undefined
  return {
    cpuMs: () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1000
    },
    gcMs: (fromMs, toMs) =>
      collections.reduce((sum, one) => (one.fromMs >= fromMs && one.fromMs <= toMs ? sum + one.ms : sum), 0),
    every: (ms, call) => {
      clearInterval(timer)
      timer = setInterval(call, ms)
    },
    measure: (on) => {
      delays.reset()
      if (on) delays.enable()
      else delays.disable()
    },
    longestMs: () => delays.max / 1e6,
    close: () => {
      clearInterval(timer)
      delays.disable()
      observer.disconnect()
    },
  }
}
