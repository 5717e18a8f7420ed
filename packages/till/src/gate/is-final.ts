import type { Hex } from '@assay/protocol/bytes'
import type { ChainPort } from '../chain/index.ts'
import { isFinalBlock } from '../transitions/decide-finality.ts'

/** The block is final and still the one that was seen. */
export async function isFinal(chain: ChainPort, seen: { blockNumber: bigint; blockHash: Hex }): Promise<boolean> {
  const final = await chain.finalizedBlock()
  const isBelow = final.number >= seen.blockNumber
  return isFinalBlock(final.number, isBelow ? await chain.blockHash(seen.blockNumber) : undefined, seen)
}
