import { topicAddress, topics } from '../../packages/till/src/chain/index.ts'
import type { TestChain } from './send-transaction.ts'

type Log = {
  address: string
  transactionHash: string
  blockNumber: string
  logIndex: string
  topics: string[]
  data: string
}

/** A transfer of the token as its log shows it. The position counts the logs of its transaction. */
export type Transfer = {
  chainId: number
  transaction: string
  position: number
  blockNumber: number
  from: string
  to: string
  micro: bigint
  nonce: string | undefined
}

/** An authorization that was used, whichever account sent the transaction. */
export type UsedAuthorization = { transaction: string; authorizer: string; nonce: string; sender: string }

/** What every block ever showed; what was in replaced blocks stays. */
export type ChainRecord = {
  transfers: Map<string, Transfer>
  carried: Map<string, UsedAuthorization>
  scannedTo: Map<number, number>
}

export const createChainRecord = (): ChainRecord => ({
  transfers: new Map(),
  carried: new Map(),
  scannedTo: new Map(),
})

export const transferKey = (chainId: number, transaction: string, position: number): string =>
  `${chainId} ${transaction} ${position}`

const tag = (block: number) => `0x${block.toString(16)}`

export async function blockNumber(chain: TestChain, at: 'latest' | 'finalized'): Promise<number> {
  const block = (await chain.request('eth_getBlockByNumber', [at, false])) as { number: string }
  return Number(block.number)
}

/** Logs of whole transactions, in order: places within a transaction count every contract's logs. */
async function logsByTransaction(chain: TestChain, fromBlock: number, toBlock: number): Promise<Map<string, Log[]>> {
  const range = { fromBlock: tag(fromBlock), toBlock: tag(toBlock) }
  const logs = (await chain.request('eth_getLogs', [range])) as Log[]
  const groups = new Map<string, Log[]>()
  for (const log of logs.sort(
    (one, other) =>
      Number(one.blockNumber) - Number(other.blockNumber) || Number(one.logIndex) - Number(other.logIndex),
  ))
    groups.set(log.transactionHash, [...(groups.get(log.transactionHash) ?? []), log])
  return groups
}

const isUsdc = ({ usdc }: TestChain, log: Log | undefined) => log?.address.toLowerCase() === usdc

function transfersIn(chain: TestChain, logs: readonly Log[]): Transfer[] {
  return logs.flatMap((log, position): Transfer[] => {
    if (!isUsdc(chain, log) || log.topics[0] !== topics.transfer) return []
    const before = logs[position - 1]
    const from = topicAddress(log.topics[1] ?? '') ?? ''
    const carried =
      isUsdc(chain, before) &&
      before?.topics[0] === topics.authorizationUsed &&
      topicAddress(before.topics[1] ?? '') === from
    return [
      {
        chainId: chain.chainId,
        transaction: log.transactionHash,
        position,
        blockNumber: Number(log.blockNumber),
        from,
        to: topicAddress(log.topics[2] ?? '') ?? '',
        micro: BigInt(log.data),
        nonce: carried ? before.topics[2] : undefined,
      },
    ]
  })
}

/** Transfers of the token in the blocks of now, up to and including `toBlock`. */
export async function readTransfers(chain: TestChain, toBlock: number): Promise<Transfer[]> {
  const groups = await logsByTransaction(chain, 0, toBlock)
  return [...groups.values()].flatMap((logs) => transfersIn(chain, logs))
}

/** Records every transfer in blocks not scanned yet, and in the last `again` blocks once more. */
export async function scanTransfers(chains: readonly TestChain[], record: ChainRecord, again = 0): Promise<void> {
  for (const chain of chains) {
    const head = await blockNumber(chain, 'latest')
    const from = Math.max(0, Math.min((record.scannedTo.get(chain.chainId) ?? -1) + 1, head + 1 - again))
    record.scannedTo.set(chain.chainId, head)
    if (from > head) continue
    for (const logs of (await logsByTransaction(chain, from, head)).values()) {
      for (const transfer of transfersIn(chain, logs))
        record.transfers.set(transferKey(chain.chainId, transfer.transaction, transfer.position), transfer)
      for (const log of logs)
        if (isUsdc(chain, log) && log.topics[0] === topics.authorizationUsed) await recordUse(chain, record, log)
    }
  }
}

async function recordUse(chain: TestChain, record: ChainRecord, log: Log): Promise<void> {
  const transaction = log.transactionHash
  const sent = (await chain.request('eth_getTransactionByHash', [transaction])) as { from: string }
  const authorizer = topicAddress(log.topics[1] ?? '') ?? ''
  const nonce = log.topics[2]?.slice(2) ?? ''
  const sender = sent.from.toLowerCase()
  record.carried.set(`${transaction} ${authorizer} ${nonce}`, { transaction, authorizer, nonce, sender })
}
