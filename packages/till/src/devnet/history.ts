import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { type Engine, type EngineCall, quantity } from './edr.ts'

/** Everything the first block depends on. Kept in the journal, so that a later release replays the chain it was made with. */
export type ChainGenesis = {
  kind: 'genesis'
  format: 1
  chainId: number
  timestamp: number
  coinbase: Address
  baseFeeWei: string
  blockGasLimit: number
  accounts: readonly { address: Address; balance: string; code?: Hex }[]
}

/** One block: exactly what is needed to make it again, and the hash that proves it. */
export type BlockEntry = {
  kind: 'block'
  timestamp: number
  transactions: readonly Hex[]
  hash: Hex
  /** Set where a block must differ from one made before in the same place. */
  randao?: Hex
}

/** A change of state outside of any transaction, such as hardhat_setCode. */
export type StateEntry = { kind: 'state'; method: string; params: readonly unknown[] }

/** What happened after the given number of entries never happened: a reverted snapshot or a reorg. */
export type RewindEntry = { kind: 'rewind'; length: number }

export type HistoryEntry = BlockEntry | StateEntry
export type JournalEntry = ChainGenesis | HistoryEntry | RewindEntry

export type Head = { number: number; hash: Hex; timestamp: number }

export async function readHead(engine: Engine): Promise<Head> {
  return headOf(await engine.call('eth_getBlockByNumber', ['latest', false]))
}

export function headOf(block: unknown): Head {
  const { number, hash, timestamp } = block as { number: Hex; hash: Hex; timestamp: Hex }
  return { number: quantity(number), hash, timestamp: quantity(timestamp) }
}

/** The calls that make a block out of its transactions; the last one is the mining itself. */
export function blockCalls(timestamp: number, randao?: Hex): EngineCall[] {
  const mine = { method: 'evm_mine', params: [timestamp] }
  return randao === undefined ? [mine] : [{ method: 'hardhat_setPrevRandao', params: [randao] }, mine]
}

const entriesPerBatch = 64

/** Makes a recorded chain again. Fails if the result is not the very chain that was recorded. */
export async function replay(engine: Engine, entries: readonly HistoryEntry[]): Promise<Head> {
  for (let start = 0; start < entries.length; start += entriesPerBatch) {
    const slice = entries.slice(start, start + entriesPerBatch)
    const calls = slice.flatMap((entry) =>
      entry.kind === 'state'
        ? [{ method: entry.method, params: entry.params }]
        : [
            ...entry.transactions.map((raw) => ({ method: 'eth_sendRawTransaction', params: [raw] })),
            ...blockCalls(entry.timestamp, entry.randao),
          ],
    )
    const answers = await engine.batch([...calls, { method: 'eth_getBlockByNumber', params: ['latest', false] }])
    // A hash covers all blocks before it, so one comparison per batch is enough.
    const expected = slice.findLast((entry) => entry.kind === 'block')?.hash
    const head = headOf(answers.at(-1))
    if (expected !== undefined && head.hash !== expected)
      throw new Error(`replay gave block ${head.number} the hash ${head.hash}, recorded was ${expected}`)
  }
  return readHead(engine)
}
