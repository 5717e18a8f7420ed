import type { Hex } from '@assay/protocol/bytes'
import type { TransferAuthorization } from '@assay/protocol/typed-data/transfer-authorization'
import { ChainUnreadable, type SimulatedTransfer } from './chain-port.ts'
import type { Network } from './network.ts'
import type { Rpc } from './rpc.ts'
import { aggregate3Call, readAggregate3, transferCall } from './wallet/authorization-calls.ts'

/** Through the multicall, which reports a failure as a result: endpoints word an error each in its own way. */
export async function simulateTransfer(
  rpc: Rpc,
  network: Network,
  authorization: TransferAuthorization,
  signature: Hex,
): Promise<SimulatedTransfer> {
  const call = { target: network.usdc.address, data: transferCall(authorization, signature) }
  try {
    const answer = await rpc.agreed('eth_call', [{ to: network.multicall3, data: aggregate3Call([call]) }, 'latest'])
    const [result] = readAggregate3(answer, 1) ?? []
    if (!result) return { status: 'could_not_read', reason: 'the endpoints give no common answer' }
    return result.success ? { status: 'passes' } : { status: 'fails', returnData: result.returnData }
  } catch (error) {
    if (error instanceof ChainUnreadable) return { status: 'could_not_read', reason: error.message }
    throw error
  }
}
