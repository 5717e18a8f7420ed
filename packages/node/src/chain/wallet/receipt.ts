import type { Hex } from '../../kernel/bytes.ts'
import type { RpcLog } from '../search-logs.ts'
import type { MinedFacts } from './transaction-store.ts'

export type TransactionReceipt = {
  transactionHash: Hex
  status: Hex
  blockNumber: Hex
  gasUsed: Hex
  effectiveGasPrice?: Hex
  /** Rollups add what publishing the data costs on the chain below. */
  l1Fee?: Hex
  logs: RpcLog[]
}

export function minedFacts(receipt: TransactionReceipt): MinedFacts {
  const gasUsed = BigInt(receipt.gasUsed)
  return {
    hash: receipt.transactionHash,
    blockNumber: BigInt(receipt.blockNumber),
    succeeded: receipt.status === '0x1',
    gasUsed,
    costWei: gasUsed * BigInt(receipt.effectiveGasPrice ?? '0x0') + BigInt(receipt.l1Fee ?? '0x0'),
  }
}
