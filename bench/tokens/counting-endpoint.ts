import type { RpcCall, RpcEndpoint } from '../../packages/till/src/chain/index.ts'

export type Counting = RpcEndpoint & { trips(): number; calls(): readonly RpcCall[]; reset(): void }

/** Counts what crosses the wire: each `send` is one HTTP round trip. */
export function counting(inner: RpcEndpoint): Counting {
  let trips = 0
  let calls: RpcCall[] = []
  return {
    name: inner.name,
    send: (list) => {
      trips += 1
      calls.push(...list)
      return inner.send(list)
    },
    trips: () => trips,
    calls: () => calls,
    reset: () => {
      trips = 0
      calls = []
    },
  }
}
