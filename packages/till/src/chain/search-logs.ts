import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import { ChainUnreadable } from './chain-port.ts'
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

const filterOf = ({ address, topics, fromBlock, toBlock }: LogSearch) => ({
  address,
  topics,
  fromBlock: toBlockHex(fromBlock),
  toBlock: toBlockHex(toBlock),
})

/** Providers cap eth_getLogs anywhere between 5 and 10,000 blocks: a refused range is halved until it is taken. */
export async function searchLogs(rpc: Rpc, search: LogSearch): Promise<RpcLog[]> {
  if (search.fromBlock > search.toBlock) return []
  try {
    const answer = await rpc.first('eth_getLogs', [filterOf(search)])
    if (!Array.isArray(answer)) throw new RpcRefusal(-32603, 'eth_getLogs gave no list')
    return answer as RpcLog[]
  } catch (error) {
    if (!(error instanceof RpcRefusal) || search.fromBlock === search.toBlock) throw error
    return inHalves(search, (half) => searchLogs(rpc, half))
  }
}

/**
 * Logs that enough endpoints show alike. For books that move on and never look back: one endpoint that lags, prunes or
 * lies would otherwise hide a transfer for good by leaving it out.
 */
export async function agreedLogs(rpc: Rpc, search: LogSearch): Promise<RpcLog[]> {
  if (search.fromBlock > search.toBlock) return []
  const answer = await rpc.agreed('eth_getLogs', [filterOf(search)], placesOf).catch((error: unknown) => {
    if (!(error instanceof ChainUnreadable) || search.fromBlock === search.toBlock) throw error
  })
  if (Array.isArray(answer)) return answer as RpcLog[]
  if (search.fromBlock === search.toBlock)
    throw new ChainUnreadable(`the endpoints do not agree about the logs of block ${search.fromBlock}`)
  // Some may only have found the range too wide.
  return inHalves(search, (half) => agreedLogs(rpc, half))
}

/** Without what providers add of their own. */
const placesOf = (answer: unknown): Json =>
  Array.isArray(answer)
    ? (answer as RpcLog[]).map(({ blockNumber, transactionHash, logIndex, topics, data }) =>
        [Number(blockNumber), transactionHash, Number(logIndex), ...topics, data].join(' ').toLowerCase(),
      )
    : null

async function inHalves(search: LogSearch, read: (half: LogSearch) => Promise<RpcLog[]>): Promise<RpcLog[]> {
  const middle = (search.fromBlock + search.toBlock) / 2n
  const first = await read({ ...search, toBlock: middle })
  return [...first, ...(await read({ ...search, fromBlock: middle + 1n }))]
}
