import type { Address } from '../kernel/address.ts'
import type { Hex } from '../kernel/bytes.ts'
import { type Rpc, RpcRefusal } from './rpc.ts'

export type RpcLog = {
  address: Address
  topics: Hex[]
  data: Hex
  blockNumber: Hex
  transactionHash: Hex
  logIndex: Hex
}

export type LogSearch = {
  address: Address
  topics: readonly (Hex | readonly Hex[] | null)[]
  fromBlock: bigint
  toBlock: bigint
}

const toBlockHex = (number: bigint): Hex => `0x${number.toString(16)}`

/** Providers cap eth_getLogs anywhere between 5 and 10,000 blocks: a refused range is halved until it is taken. */
export async function searchLogs(rpc: Rpc, search: LogSearch): Promise<RpcLog[]> {
  if (search.fromBlock > search.toBlock) return []
  try {
    const answer = await rpc.first('eth_getLogs', [
      {
        address: search.address,
        topics: search.topics,
        fromBlock: toBlockHex(search.fromBlock),
        toBlock: toBlockHex(search.toBlock),
      },
    ])
    if (!Array.isArray(answer)) throw new RpcRefusal(-32603, 'eth_getLogs gave no list')
    return answer as RpcLog[]
  } catch (error) {
    if (!(error instanceof RpcRefusal) || search.fromBlock === search.toBlock) throw error
    const middle = (search.fromBlock + search.toBlock) / 2n
    const first = await searchLogs(rpc, { ...search, toBlock: middle })
    return [...first, ...(await searchLogs(rpc, { ...search, fromBlock: middle + 1n }))]
  }
}
