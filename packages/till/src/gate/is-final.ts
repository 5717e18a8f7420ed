import type { Hex } from '@assay/protocol/bytes'
import type { ChainPort } from '../chain/index.ts'

/** The block is final and still the one that was seen. */
export async function isFinal(
  chain: ChainPort,
  { blockNumber, blockHash }: { blockNumber: bigint; blockHash: Hex },
): Promise<boolean> {
  const final = await chain.finalizedBlock()
  return final.number >= blockNumber && (await chain.blockHash(blockNumber)) === blockHash
}
