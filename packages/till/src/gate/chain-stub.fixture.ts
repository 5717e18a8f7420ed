import type { BlockRef, ChainPort, SettlementEvidence, SimulatedTransfer } from '../chain/index.ts'
import { ChainUnreadable } from '../chain/index.ts'
import type { Clock } from '../kernel/clock.ts'

export const expected = {
  payer: `0x${'11'.repeat(20)}`,
  payTo: `0x${'22'.repeat(20)}`,
  amountMicro: 5_000n,
  network: 'eip155:8453',
  paymentKey: `0x${'33'.repeat(32)}`,
} as const

export const named = `0x${'aa'.repeat(32)}` as const
export const another = `0x${'bb'.repeat(32)}` as const

export const confirmedAt = (blockNumber: bigint, transaction: `0x${string}` = named) =>
  ({
    status: 'confirmed',
    transaction,
    blockNumber,
    blockHash: `0x${'cc'.repeat(32)}`,
    position: 0,
    gasGwei: 9n,
  }) as const satisfies SettlementEvidence

/** What a chain shows, in turn; the last of a list stays. */
export type Shown = {
  byTransaction?: readonly SettlementEvidence[]
  used?: readonly (boolean | 'unreadable')[]
  byKey?: readonly SettlementEvidence[]
  final?: BlockRef
  head?: BlockRef
  simulated?: SimulatedTransfer
}

export type Asked = { transactions: string[]; searches: bigint[]; usedAt: unknown[] }

/** Answers from lists, and tells what it was asked. */
export function chainShowing(shown: Shown): { chain: ChainPort; asked: Asked } {
  const asked: Asked = { transactions: [], searches: [], usedAt: [] }
  const turn = <T>(list: readonly T[] | undefined, times: number): T => {
    if (!list || list.length === 0) throw new Error('the chain was asked what the test does not show')
    return list[Math.min(times, list.length) - 1] as T
  }
  const chain = {
    settlementByTransaction: async (transaction: string) =>
      turn(shown.byTransaction, asked.transactions.push(transaction)),
    authorizationUsed: async (_payer: string, _key: string, at: unknown) => {
      const used = turn(shown.used, asked.usedAt.push(at))
      if (used === 'unreadable') throw new ChainUnreadable('no endpoint answered')
      return used
    },
    settlementByNonce: async (_expected: unknown, fromBlock: bigint) =>
      turn(shown.byKey, asked.searches.push(fromBlock)),
    simulateTransfer: async () => shown.simulated,
    head: async () => shown.head,
    finalizedBlock: async () => shown.final,
  } as unknown as ChainPort
  return { chain, asked }
}

/** Sleeping moves it, and nothing else. A sleeper that is never woken waits for its signal. */
export function steppingClock(): Clock & { slept: number[] } {
  let nowMs = 1_000_000
  const slept: number[] = []
  return {
    slept,
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms, signal) => {
      // The deadline of a whole settlement is not reached by polling: only its signal ends it.
      if (signal) return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      slept.push(ms)
      nowMs += ms
      return Promise.resolve()
    },
  }
}
