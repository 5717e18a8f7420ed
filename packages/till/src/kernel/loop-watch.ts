import { PerformanceObserver } from 'node:perf_hooks'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** What the process and its machine did meanwhile. */
export type LoopHost = {
  /** Spent by this process since it started, all threads together. */
  cpuMs(): number
  /** Spent on garbage collection between two moments of the monotonic clock. */
  gcMs(fromMs: number, toMs: number): number
  /** Calls again and again until it is closed. Fifty times a second, a promise and a signal each would cost a percent of a core. */
  every(ms: number, call: () => void): void
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
 */
export function watchLoop(ports: { clock: Clock; log: Log; metrics: Metrics; host: LoopHost }): LoopWatch {
  const { clock, log, metrics, host } = ports
  const inProgress = new Map<string, number>()
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

  let last = { atMs: clock.monotonicMs(), cpuMs: host.cpuMs(), requests, work: [] as string[] }
  let late: (Omit<Stall, 'gcMs' | 'cause'> & { fromMs: number; toMs: number }) | undefined
  host.every(tickMs, () => {
    const now = { atMs: clock.monotonicMs(), cpuMs: host.cpuMs(), requests, work: [...inProgress.keys()] }
    // One tick later, for collections are reported in their own turn.
    if (late) record(explain(late, host.gcMs(late.fromMs, late.toMs)), now.atMs)
    const ms = now.atMs - last.atMs
    late =
      ms > stallMs
        ? {
            ...{ fromMs: last.atMs, toMs: now.atMs, ms, cpuMs: now.cpuMs - last.cpuMs },
            // What ended in the same turn was under way before it.
            work: [...new Set([...last.work, ...now.work])],
            requests: now.requests - last.requests,
          }
        : undefined
    last = now
  })
  return {
    during: async (name, work) => {
      inProgress.set(name, (inProgress.get(name) ?? 0) + 1)
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
  let timer: NodeJS.Timeout | undefined
  return {
    cpuMs: () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1000
    },
    gcMs: (fromMs, toMs) =>
      collections.reduce((sum, one) => (one.fromMs >= fromMs && one.fromMs <= toMs ? sum + one.ms : sum), 0),
    every: (ms, call) => {
      timer = setInterval(call, ms)
    },
    close: () => {
      clearInterval(timer)
      observer.disconnect()
    },
  }
}
