import type { Clock } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { isPulled } from './event-reader.ts'
import { createExpectedWait, type ExpectedWait } from './expected-wait.ts'
import { createPressure, crowd } from './pressure.ts'

export type LoadConfig = {
  inFlightMax: number
  streamsMax: number
  /** While the node is busy: the time to an answer past which callers are asked to retry later. Who pays is admitted for longer. */
  freeWaitMsMax: number
  payingWaitMsMax: number
}

export const defaultLoad: LoadConfig = {
  inFlightMax: 2_000,
  // Ten thousand are promised; a caller who asks for one more still gets its price.
  streamsMax: 12_000,
  freeWaitMsMax: Number.POSITIVE_INFINITY,
  payingWaitMsMax: Number.POSITIVE_INFINITY,
}

/** For a node with a network before it: what comes is waiting somewhere, and more of it helps nobody. */
export const sheddingLoad = { freeWaitMsMax: 1_000, payingWaitMsMax: 2_000 }

/** A step of a request that lastingly waits so long shows a busy node: answers that only take long may wait for a chain. */
const busyMs = 50

/** A process may be blocked this long once: a collection, a big parse, a machine that was busy with other work. */
const stallMs = 2_000

/**
 * This many requests in flight are overload whatever the cause. Fewer may be the backlog of a short stall and get
 * `drainMs` to drain.
 */
const overloadInFlight = 256
const drainMs = 1_000

/** Requests being worked on. Past four fifths of the cap, or when waits grow, only callers who pay or are entitled are let in. */
export type Load = {
  enter(paying: boolean): void
  leave(paying: boolean): void
  inFlight(): number
  /** Refuses before a payment is taken when no stream could be opened for it. */
  checkStreamRoom(): void
  /** Counts the stream until it ends, however it ends. */
  track(body: AsyncIterable<Uint8Array | string>): AsyncIterable<Uint8Array | string>
}

export function createLoad(config: LoadConfig, ports: { clock: Clock; probe?(): Promise<unknown> }): Load {
  let streams = 0
  const free = createExpectedWait(ports.clock)
  const paid = createExpectedWait(ports.clock)
  const inFlight = () => free.inFlight() + paid.inFlight()
  const pressure = createPressure({ ...ports, inFlight })
  const crowded = () => new Problem('not_ready', { detail: 'The node is busy.', retryAfterSeconds: 1 })
  let busySinceMs: number | undefined
  const isBusy = () => {
    const isStalled = pressure.overdueMs() > stallMs
    const busy = inFlight() >= crowd && (isStalled || pressure.lastingMs() > busyMs)
    busySinceMs = busy ? (busySinceMs ?? ports.clock.monotonicMs()) : undefined
    if (busySinceMs === undefined) return false
    return isStalled || inFlight() >= overloadInFlight || ports.clock.monotonicMs() - busySinceMs >= drainMs
  }
  /** A few requests that wait for a chain may take seconds, which predicts nothing about the next one. */
  const isLate = (wait: ExpectedWait, msMax: number) => wait.inFlight() >= crowd && wait.ms() > msMax
  /** Who does not pay also goes without while those who do have to wait. */
  const takesTooLong = (paying: boolean) =>
    paying
      ? isLate(paid, config.payingWaitMsMax)
      : isLate(free, config.freeWaitMsMax) || isLate(paid, config.freeWaitMsMax)
  return {
    enter: (paying) => {
      pressure.recordRequest()
      if (inFlight() >= (paying ? config.inFlightMax : config.inFlightMax * 0.8)) throw crowded()
      if (isBusy() && takesTooLong(paying)) throw crowded()
      ;(paying ? paid : free).enter()
    },
    leave: (paying) => (paying ? paid : free).leave(),
    inFlight,
    checkStreamRoom: () => {
      if (streams >= config.streamsMax) throw crowded()
    },
    // No generator: one that waits for its source could not be stopped before the source yields again.
    track: (body) => ({
      ...(isPulled(body) ? { pull: body.pull } : {}),
      [Symbol.asyncIterator]: () => {
        const source = body[Symbol.asyncIterator]()
        let open = true
        streams += 1
        const leave = () => {
          if (open) streams -= 1
          open = false
        }
        return {
          next: async () => {
            try {
              const step = await source.next()
              if (step.done) leave()
              return step
            } catch (error) {
              leave()
              throw error
            }
          },
          return: async () => {
            leave()
            await source.return?.()
            return { done: true, value: undefined }
          },
        }
      },
    }),
  }
}
