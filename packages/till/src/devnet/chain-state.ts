import { join } from 'node:path'
import { type Address, parseAddress } from '@assay/protocol/address'
import { type Clock, nowSeconds } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import { createEngine, type Engine } from './edr.ts'
import { buildGenesis, signUsdcDeployment } from './genesis.ts'
import type { ChainGenesis, Head, HistoryEntry, JournalEntry } from './history.ts'
import { replay } from './history.ts'
import { type Journal, memoryJournal, openJournal } from './journal.ts'
import { enterMempool } from './mempool.ts'
import { produceBlock } from './produce-block.ts'
import { createReadWriteLock, type ReadWriteLock } from './read-write-lock.ts'
import { createWaitingPool, type WaitingPool, type WaitingTransaction } from './waiting-pool.ts'

/** All that one running chain remembers. Changed only under `lock.exclusive`, except where a field says otherwise. */
export type ChainState = {
  readonly chainId: number
  readonly genesis: ChainGenesis
  readonly journal: Journal
  readonly lock: ReadWriteLock
  readonly clock: Clock
  readonly log: Log
  engine: Engine
  head: Head
  /** Entries since genesis that the present chain consists of. */
  history: HistoryEntry[]
  /** Entered under `lock.shared`, left under `lock.exclusive`. */
  mempool: WaitingPool
  snapshots: Map<string, { historyLength: number; head: Head; waiting: WaitingTransaction[] }>
  mining: 'automatic' | 'held'
  finalityLagBlocks: number
  clockOffsetSeconds: number
  nextTimestamp: number | undefined
  /** Why the chain stopped for good: shut down, or its journal could not be written. */
  broken: Error | undefined
}

export type OpenChainOptions = {
  chainId: number
  folder?: string
  fund?: readonly Address[]
  emptyBlocks?: number
  clock: Clock
  log: Log
}

/** Opens the chain kept in `folder`, or makes a new one there, or one that lives in memory only. */
export async function openChain(options: OpenChainOptions): Promise<ChainState> {
  const { chainId, folder, clock, log } = options
  if (folder === undefined) return createChain(options, memoryJournal)
  const path = join(folder, `chain-${chainId}.journal`)
  const { journal, entries, tornBytes } = openJournal(path)
  try {
    if (tornBytes > 0) log.warn({ chainId, tornBytes }, 'dropped an unfinished last line of the chain journal')
    const [genesis, ...rest] = entries
    if (genesis === undefined) return await createChain(options, journal)
    if (genesis.kind !== 'genesis') throw new Error(`${path}: the first line is not a genesis`)
    if (genesis.chainId !== chainId) throw new Error(`${path}: this is a journal of chain ${genesis.chainId}`)
    const startedMs = clock.monotonicMs()
    const history = effectiveHistory(rest, path)
    const engine = await createEngine(genesis)
    const head = await replay(engine, history).catch((cause: unknown) => {
      throw new Error(`${path}: the chain cannot be made again from its journal`, { cause })
    })
    const ms = Math.round(clock.monotonicMs() - startedMs)
    log.info({ chainId, entries: history.length, block: head.number, ms }, 'chain replayed from its journal')
    return initialState(options, { genesis, journal, engine, head, history })
  } catch (error) {
    await journal.close()
    throw error
  }
}

const emptyBlockSeconds = 2

/** The engine keeps a run of empty blocks as one, however long it is. */
const emptyBlocks = (count: number): HistoryEntry => ({
  kind: 'state',
  method: 'hardhat_mine',
  params: [`0x${count.toString(16)}`, `0x${emptyBlockSeconds.toString(16)}`],
})

async function createChain(options: OpenChainOptions, journal: Journal): Promise<ChainState> {
  const fund = (options.fund ?? []).flatMap((address) => parseAddress(address) ?? [])
  const age = options.emptyBlocks ?? 0
  const timestamp = nowSeconds(options.clock) - age * emptyBlockSeconds
  const genesis = buildGenesis({ chainId: options.chainId, timestamp, fund })
  const engine = await createEngine(genesis)
  const history: HistoryEntry[] = age === 0 ? [] : [emptyBlocks(age)]
  const head = await replay(engine, history)
  const state = initialState(options, { genesis, journal, engine, head, history })
  journal.append([genesis, ...history])
  const raw = await signUsdcDeployment(options.chainId, fund)
  await enterMempool(state, raw)
  await produceBlock(state)
  await journal.flushed()
  return state
}

function initialState(
  { chainId, clock, log }: OpenChainOptions,
  made: Pick<ChainState, 'genesis' | 'journal' | 'engine' | 'head' | 'history'>,
): ChainState {
  return {
    chainId,
    clock,
    log,
    ...made,
    lock: createReadWriteLock(),
    mempool: createWaitingPool(),
    snapshots: new Map(),
    mining: 'automatic',
    finalityLagBlocks: 0,
    clockOffsetSeconds: 0,
    nextTimestamp: undefined,
    broken: undefined,
  }
}

/** What is left of a journal once its rewinds are carried out. */
export function effectiveHistory(entries: readonly JournalEntry[], path: string): HistoryEntry[] {
  const history: HistoryEntry[] = []
  for (const entry of entries) {
    if (entry.kind === 'rewind') {
      if (entry.length > history.length) throw new Error(`${path}: a rewind goes beyond what was written`)
      history.length = entry.length
    } else if (entry.kind === 'genesis') throw new Error(`${path}: a second genesis`)
    else history.push(entry)
  }
  return history
}
