import { type Hex, isHex } from '@assay/protocol/bytes'
import type { ChainState } from './chain-state.ts'
import { enterMempool, isNextInLine } from './mempool.ts'
import type { BlockProducer } from './mine-transactions.ts'
import { RpcError, rpcCodes } from './rpc-error.ts'

/**
 * Takes a signed transaction as a public node would: one that can run is answered when it is in a block, one whose
 * nonce comes too early is answered at once and waits for the gap to fill.
 */
export async function submitTransaction(state: ChainState, producer: BlockProducer, raw: unknown): Promise<Hex> {
  if (!isHex(raw)) throw new RpcError(rpcCodes.invalidParams, 'a raw transaction is hex text')
  const { hash, canRun } = await state.lock.shared(async () => {
    const accepted = await enterMempool(state, raw)
    return { hash: accepted, canRun: state.mining === 'automatic' && (await isNextInLine(state, accepted)) }
  })
  if (canRun) await producer.include(hash)
  return hash
}
