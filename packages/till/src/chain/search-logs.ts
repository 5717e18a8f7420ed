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

type Range = { fromBlock: bigint; toBlock: bigint }

export type LogSearch = Range & {
  address: Address | readonly Address[]
  topics: LogTopics
  /** What may be there instead: logs of either are found. */
  orTopics?: LogTopics
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

export type LogStep = Range & {
  filters: readonly Pick<LogSearch, 'address' | 'topics'>[]
  /** At most so many, each as wide as the providers take. */
  pieces: number
  /** Blocks whose hashes are read with it, given its last one. */
  blocks?(toBlock: bigint): readonly bigint[]
}

export type StepLogs = {
  toBlock: bigint
  /** What each filter found in each piece: a limit of a provider shows in the length of one. */
  answers: readonly RpcLog[][]
  hashes: ReadonlyMap<bigint, Hex>
  /** Calls to each operator, with the chain id and with what was refused. */
  calls: number
}

/**
 * The same for the beginning of a range, for work that goes on later. Pieces and hashes are in one request, so that one
 * chain id proves all of it. Where that fails, a single piece is read.
 */
export async function agreedStep(rpc: Rpc, step: LogStep): Promise<StepLogs> {
  const logSpan = spanOf(rpc)
  let [{ pieces }, calls] = [step, 0]
  const ask = (some: readonly RpcCall[]) => {
    calls += some.length + 1
    return rpc.agreedBatch(some, (answer) => consensusFields(answer) ?? hashOf(answer))
  }
  const { found } = await firstPiece(logSpan, step, logSpan.blocks(), async (piece) => {
    const ranges = piecesOf(step, piece.toBlock - piece.fromBlock + 1n, pieces)
    pieces = 1
    const toBlock = ranges.at(-1)?.toBlock ?? piece.toBlock
    const blocks = step.blocks?.(toBlock) ?? []
    const searches = ranges.flatMap((range) => step.filters.flatMap((filter) => filtersOf({ ...filter, ...range })))
    const given = await inRequests(logSpan, [...searches, ...blocks.map(blockCall)], ask)
    const answers = given?.slice(0, searches.length)
    if (!given || !answers?.every((answer) => Array.isArray(answer))) return undefined
    const hashes = new Map<bigint, Hex>()
    for (const [index, block] of blocks.entries()) {
      const hash = hashOf(given[searches.length + index])
      if (hash === null) throw new ChainUnreadable(`the endpoints do not know block ${block}`)
      hashes.set(block, hash)
    }
    return { toBlock, answers: answers as RpcLog[][], hashes }
  })
  return { ...found, calls }
}

/** All in one request, or in as many as the providers want. Undefined where they do not agree. */
async function inRequests(
  logSpan: LogSpan,
  calls: readonly RpcCall[],
  ask: (some: readonly RpcCall[]) => Promise<readonly unknown[] | undefined>,
): Promise<unknown[] | undefined> {
  const given: unknown[] = []
  while (given.length < calls.length) {
    const some = calls.slice(given.length, given.length + logSpan.atOnce())
    const answers = await ask(some).catch(async (error: unknown) => {
      if (some.length === 1 || !(error instanceof ChainUnreadable)) throw error
      // They were too many if one of them alone is answered.
      const one = await ask(some.slice(0, 1)).catch(() => Promise.reject(error))
      logSpan.refusedAtOnce(some.length)
      return one
    })
    if (!answers) return undefined
    given.push(...answers)
  }
  return given
}

const blockCall = (number: bigint): RpcCall => ({ method: 'eth_getBlockByNumber', params: [toBlockHex(number), false] })
const hashOf = (answer: unknown): Hex | null => (answer as { hash?: Hex } | null)?.hash ?? null

function piecesOf({ fromBlock, toBlock }: Range, width: bigint, count: number): Range[] {
  const ranges: Range[] = []
  for (let from = fromBlock; from <= toBlock && ranges.length < count; from += width)
    ranges.push({ fromBlock: from, toBlock: from + width - 1n < toBlock ? from + width - 1n : toBlock })
  return ranges
}

const readAgreed =
  (rpc: Rpc): ReadSearch =>
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

/** Narrower pieces to read before the usual width is tried again within one search. */
const narrowPieces = 8

type ReadSearch = (piece: LogSearch) => Promise<RpcLog[] | undefined>

/** In pieces as wide as the providers take. */
async function inPieces(rpc: Rpc, search: LogSearch, read: ReadSearch): Promise<RpcLog[]> {
  const logSpan = spanOf(rpc)
  const found: RpcLog[] = []
  let { fromBlock } = search
  let width = logSpan.blocks()
  let narrow = 0
  while (fromBlock <= search.toBlock) {
    const piece = await firstPiece(logSpan, { ...search, fromBlock }, width, (range) => read({ ...search, ...range }))
    found.push(...piece.found)
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
async function firstPiece<T>(
  logSpan: LogSpan,
  range: Range,
  startWidth: bigint,
  read: (piece: Range) => Promise<T | undefined>,
): Promise<{ found: T; toBlock: bigint; width: bigint }> {
  const { fromBlock } = range
  let width = startWidth
  for (;;) {
    const toBlock = fromBlock + width - 1n < range.toBlock ? fromBlock + width - 1n : range.toBlock
    const blocks = toBlock - fromBlock + 1n
    const found = await read({ fromBlock, toBlock }).catch((error: unknown) => {
      if (!(error instanceof RpcRefusal) || blocks === 1n) throw error
      logSpan.refused(blocks)
    })
    if (found) {
      logSpan.took(blocks)
      return { found, toBlock, width }
    }
    if (blocks === 1n) throw new ChainUnreadable(`the endpoints do not agree about the logs of block ${fromBlock}`)
    width = blocks / 2n
  }
}
