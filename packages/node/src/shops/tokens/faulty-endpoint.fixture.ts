import type { Hex } from '@assay/protocol/bytes'
import type { RpcCall, RpcEndpoint } from '@assay/till/chain'
import { multicall3Address } from '@assay/till/devnet'
import { encodeResults } from './model-chain.fixture.ts'
import { decodeMulticall, decodeMulticallRequest, type ViewCall, type ViewResult } from './read/multicall.ts'

export type Faults = {
  /** Replaces the answer to a call, or throws instead of it. Undefined leaves it. */
  answer?(call: RpcCall, answer: unknown): unknown
  /** Before anything is asked. */
  before?(call: RpcCall): void
  /** Replaces one view inside a multicall. */
  view?(call: ViewCall, result: ViewResult): ViewResult
}

/** A provider between the reader and a chain, with set faults. */
export function faultyEndpoint(inner: RpcEndpoint, faults: Faults, name = 'faulty'): RpcEndpoint {
  return {
    name,
    send: async (calls) => {
      for (const call of calls) faults.before?.(call)
      const answers = await inner.send(calls)
      return calls.map((call, i) => {
        const answer = alterViews(call, answers[i], faults)
        return faults.answer === undefined ? answer : (faults.answer(call, answer) ?? answer)
      })
    },
  }
}

function alterViews(call: RpcCall, answer: unknown, faults: Faults): unknown {
  const request = call.params[0] as { to?: string; data?: Hex } | undefined
  if (faults.view === undefined || call.method !== 'eth_call' || request?.to !== multicall3Address) return answer
  const views = decodeMulticallRequest(request.data as Hex)
  const results = views && decodeMulticall(answer, views.length)
  if (views === undefined || results === undefined) return answer
  return encodeResults(results.map((result, i) => faults.view?.(views[i] as ViewCall, result) ?? result))
}
