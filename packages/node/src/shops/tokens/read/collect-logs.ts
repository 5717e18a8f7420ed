import type { Hex } from '@assay/protocol/bytes'
import type { LogCoverage, PinnedBlock } from '../facts.ts'
import type { RawLog } from './decode-events.ts'
import type { LogIndex, StoredLogs } from './log-index.ts'
import { agree, askAll, type Meter, type Panel } from './panel.ts'
import { parseBlock } from './pin-block.ts'
import { type LogBudget, type LogFilter, type LogPace, readLogs } from './read-logs.ts'

export type LogSource = {
  panel: Panel
  index: LogIndex
  pace: LogPace
  budget: LogBudget
  meter: Meter
  /** Hashes of blocks already asked for: what the index covers ends at one block for all subjects. */
  hashes: Map<bigint, Promise<Hex | undefined>>
  /** Searches that have begun, perhaps before it was certain that they are needed. */
  begun: Map<string, Promise<Collected>>
  /** The block up to which the background index was used. */
  indexedTo?: bigint
}

export type Collected = { logs: RawLog[]; coverage: LogCoverage }

/** Logs of one subject from its beginning to the pinned block: what is kept, plus what is new since. */
export function collectLogs(
  source: LogSource,
  block: PinnedBlock,
  subject: string,
  filter: LogFilter,
  fromBlock: bigint,
): Promise<Collected> {
  const key = `${subject}@${fromBlock}`
  const found = source.begun.get(key) ?? collect(source, block, subject, filter, fromBlock)
  source.begun.set(key, found)
  return found
}

async function collect(
  source: LogSource,
  block: PinnedBlock,
  subject: string,
  filter: LogFilter,
  fromBlock: bigint,
): Promise<Collected> {
  const readFrom = (first: bigint) => readLogs(source, filter, { fromBlock: first, toBlock: block.number })
  const loaded = await loadLogs(source, subject, fromBlock)
  // What is new is read while it is asked whether what is cached is still valid.
  const [isValid, tail] = await Promise.all([
    loaded !== undefined && isOnChain(source, block, loaded),
    readFrom(loaded === undefined ? fromBlock : loaded.toBlock + 1n),
  ])
  const kept = isValid ? loaded : undefined
  const { logs, gaps } = loaded === undefined || isValid ? tail : await readFrom(fromBlock)
  const nextBlock = kept === undefined ? fromBlock : kept.toBlock + 1n
  const before = kept?.logs.filter((log) => log.blockNumber <= block.number && log.blockNumber >= fromBlock) ?? []
  const coveredTo = gaps[0] === undefined ? block.number : gaps[0].fromBlock - 1n
  if (kept?.indexed) source.indexedTo = kept.toBlock
  else if (coveredTo >= nextBlock) {
    const toHash = coveredTo === block.number ? block.hash : await hashAt(source, coveredTo)
    const fresh = logs.filter((log) => log.blockNumber <= coveredTo)
    if (toHash !== undefined)
      await source.index
        .save(subject, { fromBlock, toBlock: coveredTo, toHash, logs: fresh }, gaps, kept)
        .catch(() => {})
  }
  return {
    logs: [...before, ...logs],
    coverage: { fromBlock, toBlock: block.number, count: before.length + logs.length, gaps },
  }
}

/** Kept logs, if they begin early enough and the chain still has the block they end with. */
export async function usableLogs(
  source: LogSource,
  block: PinnedBlock,
  subject: string,
  fromBlock: bigint,
): Promise<StoredLogs | undefined> {
  const kept = await loadLogs(source, subject, fromBlock)
  return kept !== undefined && (await isOnChain(source, block, kept)) ? kept : undefined
}

async function loadLogs(source: LogSource, subject: string, fromBlock: bigint): Promise<StoredLogs | undefined> {
  const kept = await source.index.load(subject).catch(() => undefined)
  return kept === undefined || kept.fromBlock > fromBlock ? undefined : kept
}

async function isOnChain(source: LogSource, block: PinnedBlock, { toBlock, toHash }: StoredLogs): Promise<boolean> {
  return toHash === (toBlock === block.number ? block.hash : await hashAt(source, toBlock))
}

function hashAt(source: LogSource, number: bigint): Promise<Hex | undefined> {
  const asked = source.hashes.get(number) ?? askHash(source, number)
  source.hashes.set(number, asked)
  return asked
}

async function askHash({ panel, meter }: LogSource, number: bigint): Promise<Hex | undefined> {
  meter.logs += 1
  const replies = await askAll(panel, [{ method: 'eth_getBlockByNumber', params: [`0x${number.toString(16)}`, false] }])
  const hashes = replies.map(([reply]) => (reply?.ok ? parseBlock(reply.value)?.hash : undefined))
  const outcome = agree(panel, hashes, (hash) => hash)
  return outcome.status === 'agreed' ? outcome.value : undefined
}
