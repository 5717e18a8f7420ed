import { decodeMulticallRequest } from '../../packages/node/src/shops/tokens/read/multicall.ts'
import { multicall3Address, type RpcCall, type RpcEndpoint } from '../../packages/till/src/chain/index.ts'

/** The same questions as our reader asks, each view as its own request: what most checkers do. */
export function oneByOne(calls: readonly RpcCall[]): RpcCall[] {
  return calls.flatMap((call) => {
    const [request, at] = call.params as [{ to?: string; data?: `0x${string}` }, unknown]
    const views =
      call.method === 'eth_call' && request.to === multicall3Address
        ? decodeMulticallRequest(request.data ?? '0x')
        : undefined
    return views?.map((view) => ({ method: 'eth_call', params: [view, at] })) ?? [call]
  })
}

export async function readNaively(endpoint: RpcEndpoint, calls: readonly RpcCall[]): Promise<void> {
  // Fork probes may revert: that is an answer.
  for (const call of calls) await endpoint.send([call]).catch(() => undefined)
}
