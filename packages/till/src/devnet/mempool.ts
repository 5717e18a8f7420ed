import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { fromHex } from '../kernel/bytes.ts'
import { keccak256 } from '../kernel/keccak.ts'
import type { ChainState } from './chain-state.ts'
import { quantity } from './edr.ts'
import { RpcError, rpcCodes } from './rpc-error.ts'

const waitingMax = 8_192
const waitingMaxMs = 10 * 60_000

/** Hands a signed transaction to the engine and keeps its bytes, which the journal will need. */
export async function enterMempool(state: ChainState, raw: Hex): Promise<Hex> {
  await dropStale(state)
  if (state.mempool.size >= waitingMax) throw new RpcError(rpcCodes.server, 'txpool is full')
  const hash = toHex(keccak256(fromHex(raw)))
  // Sent again by all who watch it: the engine would recover its sender each time before it says so.
  if (state.mempool.get(hash) && (await isKnown(state, hash))) throw new RpcError(rpcCodes.server, 'already known')
  const [, sent] = await state.engine.batch([
    { method: 'eth_sendRawTransaction', params: [raw] },
    { method: 'eth_getTransactionByHash', params: [hash] },
  ])
  const { from, nonce } = sent as { from: Address; nonce: Hex }
  state.mempool.add({ hash, raw, sender: from, nonce: quantity(nonce), sinceMs: state.clock.nowMs() })
  return hash
}

/** The nonce of the sender's next transaction, counting those that wait in an unbroken line. */
export async function pendingNonce(state: ChainState, sender: Address): Promise<number> {
  const mined = quantity(await state.engine.call('eth_getTransactionCount', [sender, 'latest']))
  return state.mempool.nextFreeNonce(sender, mined)
}

/** True if the next block can take it: nothing of the same sender is missing before it. */
export async function isNextInLine(state: ChainState, hash: Hex): Promise<boolean> {
  const waiting = state.mempool.get(hash)
  return waiting !== undefined && (await pendingNonce(state, waiting.sender)) > waiting.nonce
}

/** As `isNextInLine`, for one that a block passed over: the engine may have thrown it out by itself. */
export async function isStillInLine(state: ChainState, hash: Hex): Promise<boolean> {
  if (state.mempool.get(hash) === undefined) return false
  if (!(await isKnown(state, hash))) {
    state.mempool.remove(hash)
    return false
  }
  return isNextInLine(state, hash)
}

const isKnown = async (state: ChainState, hash: Hex): Promise<boolean> =>
  (await state.engine.call('eth_getTransactionByHash', [hash])) !== null

/** Removes a waiting transaction, as a node does that drops it. False if it does not wait. */
export function dropTransaction(state: ChainState, hash: Hex): Promise<boolean> {
  return state.lock.exclusive(async () => {
    if (!state.mempool.remove(hash)) return false
    return (await state.engine.call('hardhat_dropTransaction', [hash])) as boolean
  })
}

async function dropStale(state: ChainState): Promise<void> {
  if (state.mining === 'held' || state.mempool.size === 0) return
  for (const { hash, sinceMs } of state.mempool.all()) {
    // The first one that is young enough ends the search.
    if (state.clock.nowMs() - sinceMs < waitingMaxMs) return
    if (state.mempool.remove(hash)) await state.engine.call('hardhat_dropTransaction', [hash])
  }
}
