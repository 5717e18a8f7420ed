import type { Clock } from '../kernel/clock.ts'
import { Problem } from '../kernel/problem.ts'
import { isPulled } from './event-reader.ts'
import { createPressure, crowd } from './pressure.ts'

export type LoadConfig = {
  inFlightMax: number
  streamsMax: number
  /** Waits of this process and its database past which callers are told to come back: who pays is let in for longer. */
  freeWaitMsMax: number
  payingWaitMsMax: number
}

export const usualLoad: LoadConfig = {
  inFlightMax: 2_000,
  streamsMax: 10_000,
  freeWaitMsMax: Number.POSITIVE_INFINITY,
  payingWaitMsMax: Number.POSITIVE_INFINITY,
}

/** For a node with a network before it: what comes is waiting somewhere, and more of it helps nobody. */
export const sheddingLoad = { freeWaitMsMax: 250, payingWaitMsMax: 800 }

/** A process may stand still this long for once: a collection, a big parse, a machine that was busy elsewhere. */
const stallMs = 2_000

/** Requests being worked on. Past four fifths of the cap, or when waits grow, only callers who pay or are entitled are let in. */
export type Load = {
  enter(paying: boolean): void
  leave(): void
  inFlight(): number
  /** Refuses before a payment is taken when no stream could be opened for it. */
  checkStreamRoom(): void
  /** Counts the stream until it ends, however it ends. */
  track(body: AsyncIterable<Uint8Array | string>): AsyncIterable<Uint8Array | string>
}

export function createLoad(config: LoadConfig, ports: { clock: Clock; probe?(): Promise<unknown> }): Load {
  let inFlight = 0
  let streams = 0
  const pressure = createPressure({ ...ports, inFlight: () => inFlight })
  const crowded = () => new Problem('not_ready', { detail: 'The node is busy.', retryAfterSeconds: 1 })
  return {
    enter: (paying) => {
      pressure.noteRequest()
      const waitMsMax = paying ? config.payingWaitMsMax : config.freeWaitMsMax
      const late = pressure.lastingMs() > waitMsMax || pressure.overdueMs() > waitMsMax + stallMs
      if (late && inFlight >= crowd) throw crowded()
      if (inFlight >= (paying ? config.inFlightMax : config.inFlightMax * 0.8)) throw crowded()
      inFlight += 1
    },
    leave: () => {
      inFlight -= 1
    },
    inFlight: () => inFlight,
    checkStreamRoom: () => {
      if (streams >= config.streamsMax) throw crowded()
    },
    // No generator: one that waits for its source could not be told to stop before the source speaks again.
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
