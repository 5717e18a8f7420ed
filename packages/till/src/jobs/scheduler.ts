import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Rng } from '../kernel/random.ts'

export type JobOptions = {
  /** Up to this share of the interval is added at random, so that many processes do not strike together. */
  jitter?: number
  /** Run at once, then after each interval. True by default. */
  immediately?: boolean
}

export type Scheduler = {
  /** Runs `work` again and again with `intervalMs` between the end of one run and the start of the next; asked after each run. */
  every(
    name: string,
    intervalMs: number | (() => number),
    work: (signal: AbortSignal) => Promise<void>,
    options?: JobOptions,
  ): Job
  /** Starts nothing new, tells running work to end, and waits for it. */
  stop(): Promise<void>
}

export type Job = {
  /** Does not wait for the interval; a run under way is followed by another. Resolves when that one has ended. */
  runNow(): Promise<void>
}

export function createScheduler(ports: { clock: Clock; log: Log; rng?: Rng }): Scheduler {
  const stopping = new AbortController()
  const loops: Promise<void>[] = []
  const wakes: Wake[] = []

  return {
    every: (name, intervalMs, work, options = {}) => {
      const wake = createWake()
      wakes.push(wake)
      const pauseMs = () =>
        (typeof intervalMs === 'number' ? intervalMs : intervalMs()) * (1 + jitterOf(ports.rng, options))
      const runOnce = async () => {
        const served = wake.take()
        try {
          await work(stopping.signal)
        } catch (error) {
          if (!stopping.signal.aborted) ports.log.error({ job: name, error: describe(error) }, 'a job failed')
        }
        for (const done of served) done()
      }
      const loop = async () => {
        let first = options.immediately !== false
        while (!stopping.signal.aborted) {
          if (!first) await wake.sleep(ports.clock, pauseMs())
          first = false
          if (!stopping.signal.aborted) await runOnce()
        }
        for (const done of wake.take()) done()
      }
      loops.push(loop())
      return { runNow: () => (stopping.signal.aborted ? Promise.resolve() : wake.now()) }
    },
    stop: async () => {
      stopping.abort(new Error('the scheduler stops'))
      for (const wake of wakes) wake.cut()
      await Promise.all(loops)
    },
  }
}

function jitterOf(rng: Rng | undefined, options: JobOptions): number {
  return rng && options.jitter ? ((rng.bytes(1)[0] ?? 0) / 255) * options.jitter : 0
}

const describe = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))

type Wake = ReturnType<typeof createWake>

/** A sleep that can be cut short, and the list of those who did it. */
function createWake() {
  let waiting: (() => void)[] = []
  let asleep: AbortController | undefined
  const cut = () => asleep?.abort('the sleep is cut short')
  return {
    cut,
    now: () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve)
        cut()
      }),
    take: () => {
      const taken = waiting
      waiting = []
      return taken
    },
    sleep: async (clock: Clock, ms: number) => {
      if (waiting.length > 0) return
      asleep = new AbortController()
      await clock.sleep(ms, asleep.signal).catch(() => {})
      asleep = undefined
    },
  }
}
