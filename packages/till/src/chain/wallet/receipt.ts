import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { TransferAuthorization } from '@assay/protocol/typed-data/transfer-authorization'
import type { RpcLog } from '../search-logs.ts'
import { topicAddress, topics } from '../usdc-abi.ts'
import type { MinedFacts } from './transaction-store.ts'

export type TransactionReceipt = {
  transactionHash: Hex
  status: Hex
  blockNumber: Hex
  gasUsed: Hex
  effectiveGasPrice?: Hex
  /** Rollups add what publishing the data costs on the parent chain. */
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

type Used = Pick<TransferAuthorization, 'from' | 'nonce'>

/** A nonce counts for one token. */
export const authorizationKey = (token: Address, { from, nonce }: Used): string => `${token} ${from} ${nonce}`

/** Which authorizations a transaction used up. The status of a multicall says nothing about its members; these logs do. */
export function usedAuthorizations(receipt: TransactionReceipt): Set<string> {
  const used = new Set<string>()
  for (const {
    address,
    topics: [event, authorizer = '', nonce],
  } of receipt.logs) {
    const from = event === topics.authorizationUsed ? topicAddress(authorizer) : undefined
    if (from && nonce) used.add(authorizationKey(address.toLowerCase() as Address, { from, nonce }))
  }
  return used
}
