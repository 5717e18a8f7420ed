import { createRpc, type Rpc, type RpcEndpoint, RpcRefusal } from '@assay/till/chain'
import { type Devnet, multicall3Address } from '@assay/till/devnet'
import { systemClock } from '@assay/till/kernel/clock'
import { noLogIndex } from './read/log-index.ts'
import { type Panel, quorumFor } from './read/panel.ts'
import { newPace } from './read/read-logs.ts'
import type { ReaderDeps } from './read/read-token.ts'

/** A chain in this process as an RPC endpoint. */
export function endpointOf(devnet: Pick<Devnet, 'request'>, name = 'embedded'): RpcEndpoint {
  return {
    name,
    send: (calls) =>
      Promise.all(
        calls.map((call) =>
          devnet
            .request(call.method, [...call.params])
            .catch((error: { code?: number; message?: string; data?: unknown }) => {
              throw new RpcRefusal(error.code ?? -32603, error.message ?? 'failed', error.data)
            }),
        ),
      ),
  }
}

export const rpcOf = (devnet: Pick<Devnet, 'request'>): Rpc => createRpc([endpointOf(devnet)], { clock: systemClock })

export function panelOf(...endpoints: RpcEndpoint[]): Panel {
  return { quorum: quorumFor(endpoints.length), endpoints, clock: systemClock }
}

/** A reader over given endpoints that keeps nothing between readings. */
export function readerOver(endpoints: readonly RpcEndpoint[], changes: Partial<ReaderDeps> = {}): ReaderDeps {
  return {
    chainId: 8453,
    multicall3: multicall3Address,
    panel: async () => panelOf(...endpoints),
    index: noLogIndex,
    pace: newPace(),
    floorBlock: 0n,
    schedule: { times: undefined, nextUnreviewedAt: undefined },
    clock: systemClock,
    headAgeSecondsMax: 90,
    headAheadSecondsMax: 30,
    ...changes,
  }
}
