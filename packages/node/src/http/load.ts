import { Problem } from '../kernel/problem.ts'

export type LoadConfig = { inFlightMax: number; streamsMax: number }

export const usualLoad: LoadConfig = { inFlightMax: 2_000, streamsMax: 10_000 }

/** Requests being worked on. Past four fifths of the cap only callers who pay or are entitled are let in. */
export type Load = {
  enter(paying: boolean): void
  leave(): void
  inFlight(): number
  /** Refuses before a payment is taken when no stream could be opened for it. */
  checkStreamRoom(): void
  /** Counts the stream until it ends, however it ends. */
  track(body: AsyncIterable<Uint8Array | string>): AsyncIterable<Uint8Array | string>
}

export function createLoad(config: LoadConfig): Load {
  let inFlight = 0
  let streams = 0
  const crowded = () => new Problem('not_ready', { detail: 'The node is busy.', retryAfterSeconds: 1 })
  return {
    enter: (paying) => {
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
