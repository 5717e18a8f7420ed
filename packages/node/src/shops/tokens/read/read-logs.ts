import { type Address, parseAddress } from '@assay/protocol/address'
import { type Hex, isHex } from '@assay/protocol/bytes'
import type { RpcCall } from '@assay/till/chain'
import { topicHashes } from '../abi/b20.ts'
import { byPlace, type RawLog } from './decode-events.ts'
import { agree, askAll, type Meter, type Panel, type Reply } from './panel.ts'
import { Unreadable } from './pin-block.ts'

export type LogFilter = { address: Address; topics: readonly (Hex | readonly Hex[] | null)[] }
export type LogRange = { fromBlock: bigint; toBlock: bigint }
export type LogGap = LogRange & { reason: string }
export type LogsRead = { logs: RawLog[]; gaps: LogGap[] }

/** What was learned about the ranges a provider takes; kept between readings. */
export type LogPace = { span: bigint }
export const newPace = (): LogPace => ({ span: 1n << 40n })

/** Requests one reading may spend on logs; what is left over is a gap, and the next reading goes on from there. */
export type LogBudget = { requests: number }

/** Who is asked, how much at once, and how often at most. */
export type LogReader = { panel: Panel; pace: LogPace; budget: LogBudget; meter: Meter }

// An answer with exactly this many logs was most likely cut off there.
export const knownCaps: ReadonlySet<number> = new Set([500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000])
const failuresMax = 3

/** All logs of a filter over a range, in pieces as large as the providers take, each piece read or named as a gap. */
export async function readLogs(
  { panel, pace, budget, meter }: LogReader,
  filter: LogFilter,
  range: LogRange,
): Promise<LogsRead> {
  const logs: RawLog[] = []
  const gaps: LogGap[] = []
  let from = range.fromBlock
  let failures = 0
  while (from <= range.toBlock) {
    if (budget.requests <= 0 || failures >= failuresMax) {
      gaps.push({ fromBlock: from, toBlock: range.toBlock, reason: failures >= failuresMax ? 'unread' : 'budget' })
      break
    }
    const end = from + pace.span - 1n < range.toBlock ? from + pace.span - 1n : range.toBlock
    budget.requests -= 1
    meter.logs += 1
    const piece = await readPiece(panel, filter, { fromBlock: from, toBlock: end })
    if (piece.status === 'too_wide' && end > from) {
      pace.span = (end - from + 1n) / 2n
      continue
    }
    logs.push(...piece.logs)
    if (piece.status === 'read') {
      failures = 0
      if (end - from + 1n >= pace.span) pace.span *= 2n
    } else {
      failures += 1
      if (piece.status === 'unread' && failures < failuresMax) continue
      gaps.push({ fromBlock: from, toBlock: end, reason: piece.status })
    }
    from = end + 1n
  }
  return { logs: inOrder(logs), gaps: joined(gaps) }
}

const grantTopic = topicHashes['RoleGranted(bytes32,address,address)']

function logsCall(filter: LogFilter, { fromBlock, toBlock }: LogRange): RpcCall {
  const blocks = { fromBlock: `0x${fromBlock.toString(16)}`, toBlock: `0x${toBlock.toString(16)}` }
  return { method: 'eth_getLogs', params: [{ address: filter.address, topics: filter.topics, ...blocks }] }
}

/**
 * With no second provider to compare with, the grants are asked for once more by themselves, in the same round trip: a
 * list that was cut off without a word is cut off elsewhere when it is shorter.
 */
function grantsOf(filter: LogFilter): LogFilter | undefined {
  const [first] = filter.topics
  return Array.isArray(first) && first.includes(grantTopic) ? { ...filter, topics: [grantTopic] } : undefined
}

function confirms(list: readonly RawLog[], second: Reply | undefined, narrow: LogFilter, range: LogRange): boolean {
  const grants = parseReply(second, narrow, range)
  const reported = list.filter((log) => log.topics[0] === grantTopic)
  return grants !== undefined && grants.map(logKey).join('|') === reported.map(logKey).join('|')
}

type Piece = { status: 'read' | 'too_wide' | 'unread' | 'disagreement'; logs: RawLog[] }

async function readPiece(panel: Panel, filter: LogFilter, range: LogRange): Promise<Piece> {
  const narrow = panel.quorum === 1 ? grantsOf(filter) : undefined
  const asked = await askAll(
    panel,
    [filter, ...(narrow ? [narrow] : [])].map((one) => logsCall(one, range)),
  )
  const replies = asked.map(([reply]) => reply)
  const parsed = replies.map((reply) => parseReply(reply, filter, range))
  const doubtful = parsed.map(
    (list, i) => list !== undefined && narrow !== undefined && !confirms(list, asked[i]?.[1], narrow, range),
  )
  const outcome = agree(
    panel,
    parsed.map((list, i) => (doubtful[i] ? undefined : list)),
    (list) => list.map(logKey).join('|'),
  )
  if (outcome.status === 'agreed') return { status: 'read', logs: outcome.value }
  // What is not enough for a complete reading still names candidates.
  const logs = parsed.flatMap((list) => list ?? [])
  if (outcome.status === 'disagreement') return { status: 'disagreement', logs }
  const tooMuch = replies.some((reply, i) => (reply?.ok ? doubtful[i] || isTruncated(reply) : reply?.refused))
  return { status: tooMuch ? 'too_wide' : 'unread', logs }
}

const isTruncated = (reply: Reply) => reply.ok && Array.isArray(reply.value) && knownCaps.has(reply.value.length)

/** Undefined for what is no list, is cut off, or holds anything that was not asked for. */
function parseReply(reply: Reply | undefined, filter: LogFilter, range: LogRange): RawLog[] | undefined {
  if (!reply?.ok || !Array.isArray(reply.value) || isTruncated(reply)) return undefined
  const logs: RawLog[] = []
  for (const item of reply.value) {
    if ((item as { removed?: unknown } | null)?.removed === true)
      throw new Unreadable('reorg', 'a log was removed while it was read')
    const log = parseLog(item)
    if (log === undefined || !fits(log, filter, range)) return undefined
    logs.push(log)
  }
  return inOrder(logs)
}

export function parseLog(item: unknown): RawLog | undefined {
  if (typeof item !== 'object' || item === null) return undefined
  const { address, topics, data, blockNumber, blockHash, transactionHash, logIndex } = item as Record<string, unknown>
  const where = parseAddress(address)
  if (where === undefined || !isHex(data) || !isHex(blockHash, 32) || !isHex(transactionHash, 32)) return undefined
  if (!isQuantity(blockNumber) || !isQuantity(logIndex)) return undefined
  if (!Array.isArray(topics) || topics.length > 4 || !topics.every((one) => isHex(one, 32))) return undefined
  return {
    address: where,
    topics: topics.map((one: string) => one.toLowerCase() as Hex),
    data: data.toLowerCase() as Hex,
    blockNumber: BigInt(blockNumber),
    blockHash: blockHash.toLowerCase() as Hex,
    transaction: transactionHash.toLowerCase() as Hex,
    logIndex: Number(BigInt(logIndex)),
  }
}

const isQuantity = (value: unknown): value is Hex => typeof value === 'string' && /^0x[0-9a-f]{1,12}$/i.test(value)

function fits(log: RawLog, filter: LogFilter, range: LogRange): boolean {
  if (log.address !== filter.address || log.blockNumber < range.fromBlock || log.blockNumber > range.toBlock)
    return false
  return filter.topics.every((wanted, index) => {
    if (wanted === null) return true
    const topic = log.topics[index]
    return topic !== undefined && (typeof wanted === 'string' ? wanted === topic : wanted.includes(topic))
  })
}

const logKey = (log: RawLog) =>
  `${log.blockHash}:${log.logIndex}:${log.transaction}:${log.topics.join(',')}:${log.data}`

/** By block and index, each once: providers repeat and shuffle. */
export function inOrder(logs: readonly RawLog[]): RawLog[] {
  const sorted = [...logs].sort(byPlace)
  return sorted.filter((log, i) => i === 0 || logKey(sorted[i - 1] as RawLog) !== logKey(log))
}

function joined(gaps: readonly LogGap[]): LogGap[] {
  const all: LogGap[] = []
  for (const gap of gaps) {
    const last = all.at(-1)
    if (last && last.reason === gap.reason && last.toBlock + 1n === gap.fromBlock) last.toBlock = gap.toBlock
    else all.push({ ...gap })
  }
  return all
}
