import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'

/** One process of the node, as its primary sees it. */
export type Worker<Ready> = {
  /** Settles when it serves, or with undefined when it ended before it did. */
  ready: Promise<Ready | undefined>
  ended: Promise<unknown>
  /** Asks it to finish what is under way and end. */
  drain(): void
  kill(): void
}

export type SuperviseDeps<Ready> = {
  start(index: number): Worker<Ready>
  clock: Clock
  log: Log
}

export type Supervisor<Ready> = {
  /** What the first worker reported when it was ready; undefined when it could not start. */
  first: Ready | undefined
  /** One after the other: a successor serves before its predecessor is drained. False when a successor could not start. */
  replaceAll(): Promise<boolean>
  /** Drains all of them and waits. */
  stop(): Promise<void>
}

/** A worker that ends sooner than this after its start waits longer before the next try. */
const shortLifeMs = 10_000
const waitMsMin = 100
const waitMsMax = 30_000
/** A drain has 25 s for requests under way; what follows must end soon after. */
const drainMsMax = 40_000

/**
 * Keeps `count` workers running; resolves when the first serves. That one migrates and resumes what a crash left, so the
 * others start after it. When the first cannot start at all, nothing is retried: the configuration is wrong, and the worker reported how.
 */
export async function superviseWorkers<Ready>(deps: SuperviseDeps<Ready>, count: number): Promise<Supervisor<Ready>> {
  const { clock, log } = deps
  const stopping = new AbortController()
  const workers = new Map<number, Worker<Ready>>()
  const keeping: Promise<void>[] = []

  const keep = async (index: number, given: Worker<Ready>): Promise<void> => {
    let waitMs = waitMsMin
    let startedMs = clock.monotonicMs()
    for (let worker = given; ; ) {
      workers.set(index, worker)
      await worker.ended
      // A successor may have taken its place.
      if (stopping.signal.aborted || workers.get(index) !== worker) return
      waitMs = clock.monotonicMs() - startedMs < shortLifeMs ? Math.min(waitMs * 2, waitMsMax) : waitMsMin
      log.error({ worker: index, waitMs }, 'a worker ended and is started again')
      await clock.sleep(waitMs, stopping.signal).catch(() => {})
      if (stopping.signal.aborted || workers.get(index) !== worker) return
      startedMs = clock.monotonicMs()
      worker = deps.start(index)
    }
  }

  const drained = async (worker: Worker<Ready>): Promise<void> => {
    const ended = new AbortController()
    worker.drain()
    clock.sleep(drainMsMax, ended.signal).then(
      () => worker.kill(),
      () => {},
    )
    await worker.ended
    ended.abort()
  }

  const replace = async (index: number): Promise<boolean> => {
    const next = deps.start(index)
    if ((await next.ready) === undefined) return false
    const previous = workers.get(index)
    keeping.push(keep(index, next))
    if (previous) await drained(previous)
    return true
  }

  const leading = deps.start(0)
  const first = await leading.ready
  if (first !== undefined) {
    keeping.push(keep(0, leading))
    for (let index = 1; index < count; index += 1) keeping.push(keep(index, deps.start(index)))
  }

  return {
    first,
    replaceAll: async () => {
      for (const index of [...workers.keys()])
        if (stopping.signal.aborted || !(await replace(index))) {
          log.error({ worker: index }, 'a worker could not be replaced; the others stay')
          return false
        }
      return true
    },
    stop: async () => {
      stopping.abort()
      await Promise.all([...workers.values()].map(drained))
      await Promise.all(keeping)
    },
  }
}
