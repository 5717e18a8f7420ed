import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import { ChainUnreadable } from './chain-port.ts'
import { createLogSpan, type LogSpan } from './log-span.ts'
import { type Rpc, type RpcCall, RpcRefusal } from './rpc.ts'

export type RpcLog = {
  address: Address
  topics: Hex[]
  data: Hex
  blockNumber: Hex
  blockHash: Hex
  transactionHash: Hex
  logIndex: Hex
}

export type LogSearch = {
  address: Address | readonly Address[]
  topics: LogTopics
  /** What may be there instead: logs of either are found. */
  orTopics?: LogTopics
  fromBlock: bigint
  toBlock: bigint
}
type LogTopics = readonly (Hex | readonly Hex[] | null)[]

const toBlockHex = (number: bigint): Hex => `0x${number.toString(16)}`

const filtersOf = ({ address, topics, orTopics, fromBlock, toBlock }: LogSearch): RpcCall[] =>
  [topics, ...(orTopics ? [orTopics] : [])].map((wanted) => ({
    method: 'eth_getLogs',
    params: [{ address, topics: wanted, fromBlock: toBlockHex(fromBlock), toBlock: toBlockHex(toBlock) }],
  }))

/** Undefined unless all are lists. One that fits both filters is there once. */
function joinLogs(answers: readonly unknown[] | undefined): RpcLog[] | undefined {
  if (!answers?.every((answer) => Array.isArray(answer))) return undefined
  const logs = (answers as RpcLog[][]).flat()
  if (answers.length === 1) return logs
  return [...new Map(logs.map((log) => [`${log.transactionHash} ${log.logIndex}`, log])).values()]
}

/** Logs as one endpoint shows them: for what is checked elsewhere or costs nobody money. */
export const searchLogs = (rpc: Rpc, search: LogSearch): Promise<RpcLog[]> =>
  inPieces(rpc, search, async (piece) => joinLogs(await rpc.batch(filtersOf(piece))))

/**
 * Logs that enough endpoints show alike. For books that move on and never look back: one endpoint that lags, prunes or
 * lies would otherwise hide a transfer for good by leaving it out.
 */
export const agreedLogs = (rpc: Rpc, search: LogSearch): Promise<RpcLog[]> => inPieces(rpc, search, readAgreed(rpc))

/** The same for the beginning of a range, no more than one answer gives, and where it ends: for work that goes on later. */
export const agreedPiece = (rpc: Rpc, search: LogSearch): Promise<{ logs: RpcLog[]; toBlock: bigint }> =>
  firstPiece(spanOf(rpc), search, spanOf(rpc).blocks(), readAgreed(rpc))

const readAgreed =
  (rpc: Rpc): ReadPiece =>
  async (piece) =>
    joinLogs(await rpc.agreedBatch(filtersOf(piece), consensusFields))

/** Only what the chain itself decides, in its order: providers add fields, shuffle, and write hex in their own way. */
const consensusFields = (answer: unknown): Json =>
  Array.isArray(answer)
    ? (answer as RpcLog[])
        .map(({ address, blockNumber, blockHash, transactionHash, logIndex, topics, data }) => {
          const place = [Number(blockNumber), Number(logIndex)] as const
          return {
            place,
            text: [...place, blockHash, transactionHash, address, ...topics, data].join(' ').toLowerCase(),
          }
        })
        .sort((a, b) => a.place[0] - b.place[0] || a.place[1] - b.place[1])
        .map(({ text }) => text)
    : null

const spans = new WeakMap<Rpc, LogSpan>()

/** What was learned about the providers of a chain, for all who search its logs. */
function spanOf(rpc: Rpc): LogSpan {
  const known = spans.get(rpc) ?? createLogSpan()
  spans.set(rpc, known)
  return known
}

/** So many narrower pieces before the usual width is tried again within one search. */
const narrowPieces = 8

type ReadPiece = (piece: LogSearch) => Promise<RpcLog[] | undefined>

/** In pieces as wide as the providers take. */
async function inPieces(rpc: Rpc, search: LogSearch, read: ReadPiece): Promise<RpcLog[]> {
  const logSpan = spanOf(rpc)
  const found: RpcLog[] = []
  let { fromBlock } = search
  let width = logSpan.blocks()
  let narrow = 0
  while (fromBlock <= search.toBlock) {
    const piece = await firstPiece(logSpan, { ...search, fromBlock }, width, read)
    found.push(...piece.logs)
    fromBlock = piece.toBlock + 1n
    if (piece.width < width) narrow = narrowPieces
    width = piece.width
    if (narrow > 0) narrow -= 1
    else width = logSpan.blocks()
  }
  return found
}

/**
 * As much of a range as the providers give at once. What is refused is asked for again in halves down to a single block:
 * some limit the blocks of a range, some the logs in it, and each says so in its own words. Where no common answer is
 * had, some may only have found the range too wide.
 */
async function firstPiece(
  logSpan: LogSpan,
  search: LogSearch,
  startWidth: bigint,
  read: ReadPiece,
): Promise<{ logs: RpcLog[]; toBlock: bigint; width: bigint }> {
  const { fromBlock } = search
  let width = startWidth
  for (;;) {
    const toBlock = fromBlock + width - 1n < search.toBlock ? fromBlock + width - 1n : search.toBlock
    const blocks = toBlock - fromBlock + 1n
    const logs = await read({ ...search, toBlock }).catch((error: unknown) => {
      if (!(error instanceof RpcRefusal) || blocks === 1n) throw error
      logSpan.refused(blocks)
    })
    if (logs) {
      logSpan.took(blocks)
      return { logs, toBlock, width }
    }
    if (blocks === 1n) throw new ChainUnreadable(`the endpoints do not agree about the logs of block ${fromBlock}`)
    width = blocks / 2n
  }
}
