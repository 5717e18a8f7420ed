import { expect, test } from 'vitest'
import type { ChainPort, SettlementEvidence } from '../chain/index.ts'
import { another, chainShowing, confirmedAt, expected, named, type Shown, steppingClock } from './chain-stub.fixture.ts'
import type { Facilitator, FacilitatorPayment, SettleOutcome } from './facilitators/port.ts'
import { fromNonceEvidence, settlePayment } from './settle-payment.ts'

const headBlock = 10_000n
const deadlineMs = 30_000
const absent = { status: 'absent' } as const
const submitted: SettleOutcome = { status: 'submitted', transaction: named, feeMicro: 7n, gasGwei: 3n }

async function settle(outcome: SettleOutcome | Error, shown: Shown, more: { head?: bigint } = {}) {
  const { chain, asked } = chainShowing(shown)
  const clock = steppingClock()
  const facilitator = {
    settle: async () => {
      if (outcome instanceof Error) throw outcome
      return outcome
    },
  } as unknown as Facilitator
  const deps = { facilitator, chain: chain as ChainPort, clock, deadlineMs }
  const result = await settlePayment(deps, {} as FacilitatorPayment, expected, more.head ?? headBlock)
  return { result, asked, waitedMs: clock.slept.reduce((sum, ms) => sum + ms, 0) }
}

test('a transaction that is confirmed settles, with the costs that were reported', async () => {
  const { result, asked, waitedMs } = await settle(submitted, { byTransaction: [confirmedAt(10_001n)] })
  expect(result).toEqual({ status: 'settled', evidence: confirmedAt(10_001n), feeMicro: 7n, gasGwei: 3n })
  expect(asked).toEqual({ transactions: [named], searches: [], usedAt: [] })
  expect(waitedMs).toBe(0)
})

test('gas that was not reported is none', async () => {
  const { result } = await settle(
    { status: 'submitted', transaction: named, feeMicro: 7n },
    { byTransaction: [confirmedAt(10_001n)] },
  )
  expect(result).toMatchObject({ gasGwei: 0n })
})

test('a transaction that is not in a block yet is waited for', async () => {
  const unreadable: SettlementEvidence = { status: 'could_not_read', reason: 'x' }
  const { result, waitedMs } = await settle(submitted, { byTransaction: [absent, unreadable, confirmedAt(10_001n)] })
  expect(result.status).toBe('settled')
  expect(waitedMs).toBe(500)
})

test('after two seconds the nonce is asked, and what another transaction carried settles with the reported costs', async () => {
  const { result, asked, waitedMs } = await settle(submitted, {
    byTransaction: [absent],
    used: [true],
    byNonce: [confirmedAt(10_001n, another)],
  })
  expect(result).toEqual({ status: 'settled', evidence: confirmedAt(10_001n, another), feeMicro: 7n, gasGwei: 3n })
  expect(waitedMs).toBe(2_000)
  expect(asked.searches).toEqual([9_900n])
  expect(asked.usedAt).toEqual(['latest'])
})

test('a chain younger than the search is searched from its first block', async () => {
  const { asked } = await settle(
    submitted,
    { byTransaction: [absent], used: [true], byNonce: [confirmedAt(101n, another)] },
    { head: 100n },
  )
  expect(asked.searches).toEqual([0n])
})

test('nothing but a transfer after our claim ends the wait: the reported transaction may still land', async () => {
  const others: SettlementEvidence[] = [
    { status: 'canceled', transaction: another, blockNumber: 10_001n },
    confirmedAt(10_000n, another),
    { status: 'mismatch', detail: 'x' },
    { status: 'could_not_read', reason: 'x' },
  ]
  for (const seen of others) {
    const byTransaction = [...Array.from({ length: 20 }, () => absent), confirmedAt(10_002n)]
    const { result } = await settle(submitted, { byTransaction, used: [true], byNonce: [seen] })
    expect(result).toMatchObject({ status: 'settled', evidence: { blockNumber: 10_002n } })
  }
})

test('an unused or unreadable nonce leaves the wait as it was, until the deadline', async () => {
  for (const used of [false, 'unreadable'] as const) {
    const { result, asked, waitedMs } = await settle(submitted, { byTransaction: [absent], used: [used] })
    expect(result).toEqual({ status: 'unknown', reason: 'not seen in a block yet', transaction: named })
    expect(waitedMs).toBe(29_750)
    // Every two seconds, and once more at the end.
    expect(asked.usedAt).toHaveLength(15)
    expect(asked.searches).toEqual([])
  }
})

test('at the deadline the nonce is asked a last time', async () => {
  const used = [...Array.from({ length: 14 }, () => false), true]
  const { result } = await settle(submitted, {
    byTransaction: [absent],
    used,
    byNonce: [confirmedAt(10_001n, another)],
  })
  expect(result.status).toBe('settled')
})

test('a reverted transaction fails only when the nonce is unused, twice looked at', async () => {
  const reverted: SettlementEvidence = { status: 'reverted', transaction: named, gasGwei: 4n }
  const failed = await settle(submitted, { byTransaction: [reverted], used: [false] })
  expect(failed.result).toEqual({ status: 'failed', reason: 'invalid_transaction_state', gasGwei: 4n })
  expect(failed.asked.usedAt).toHaveLength(2)
  const meanwhile = await settle(submitted, { byTransaction: [reverted], used: [false, true] })
  expect(meanwhile.result).toEqual({ status: 'unknown', reason: 'the nonce was used meanwhile' })
  const unreadable = await settle(submitted, { byTransaction: [reverted], used: [false, 'unreadable'] })
  expect(unreadable.result).toEqual({ status: 'unknown', reason: 'no endpoint answered' })
  const carried = await settle(submitted, {
    byTransaction: [reverted],
    used: [true],
    byNonce: [confirmedAt(10_001n, another)],
  })
  expect(carried.result).toMatchObject({ status: 'settled', evidence: { transaction: another } })
  expect(carried.asked.searches).toEqual([5_000n])
})

test('a transaction that moved something else contradicts, unless another one carried the payment', async () => {
  const mismatch: SettlementEvidence = { status: 'mismatch', detail: 'paid to somebody else' }
  const told = await settle(submitted, { byTransaction: [mismatch], used: [false] })
  expect(told.result).toEqual({ status: 'contradicted', detail: 'paid to somebody else' })
  const carried = await settle(submitted, {
    byTransaction: [mismatch],
    used: [true],
    byNonce: [confirmedAt(10_001n, another)],
  })
  expect(carried.result.status).toBe('settled')
})

test('a refusal is believed only when the nonce is unused', async () => {
  const refused: SettleOutcome = { status: 'refused', reason: 'insufficient_funds', message: 'poor', gasGwei: 2n }
  expect((await settle(refused, { used: [false] })).result).toEqual({
    status: 'failed',
    reason: 'insufficient_funds',
    message: 'poor',
    gasGwei: 2n,
  })
  const silent: SettleOutcome = { status: 'refused', reason: 'insufficient_funds' }
  expect((await settle(silent, { used: [false] })).result).toEqual({
    status: 'failed',
    reason: 'insufficient_funds',
    gasGwei: 0n,
  })
  const moved = await settle(refused, { used: [true], byNonce: [confirmedAt(10_001n)] })
  expect(moved.result).toEqual({ status: 'settled', evidence: confirmedAt(10_001n), feeMicro: 0n, gasGwei: 0n })
  expect((await settle(refused, { used: ['unreadable'] })).result).toEqual({
    status: 'unknown',
    reason: 'no endpoint answered',
  })
})

test('an outage of the facilitator is no refusal: nothing was sent, and the same payment may be tried again', async () => {
  for (const reason of ['facilitator_unreachable', 'facilitator_', 'settlement_aborted']) {
    const { result } = await settle({ status: 'refused', reason }, { used: [false] })
    expect(result).toEqual({ status: 'not_sent', reason })
  }
  const { result } = await settle(
    { status: 'refused', reason: 'facilitator_unreachable' },
    { used: [true], byNonce: [confirmedAt(10_001n)] },
  )
  expect(result.status).toBe('settled')
})

test('an unknown outcome stays unknown with what was told, unless the chain knows', async () => {
  const unknown: SettleOutcome = { status: 'unknown', reason: 'settlement_pending', transaction: named }
  const reason = 'settlement_pending'
  expect((await settle(unknown, { used: [false] })).result).toEqual({ status: 'unknown', reason, transaction: named })
  expect((await settle({ status: 'unknown', reason }, { used: ['unreadable'] })).result).toEqual({
    status: 'unknown',
    reason,
  })
  const settled = await settle(unknown, { used: [true], byNonce: [confirmedAt(10_001n)] })
  expect(settled.result.status).toBe('settled')
})

test('a facilitator that throws leaves the payment unknown, in short words', async () => {
  const { result } = await settle(new Error('socket hang up '.repeat(30)), { used: [false] })
  expect(result).toMatchObject({ status: 'unknown' })
  expect((result as { reason: string }).reason).toHaveLength(200)
})

test('a facilitator that never answers is left at the deadline, and told so', async () => {
  const { chain } = chainShowing({ used: [false] })
  let told: AbortSignal | undefined
  const facilitator = {
    settle: (_: unknown, signal: AbortSignal) => {
      told = signal
      return new Promise(() => {})
    },
  } as unknown as Facilitator
  const clock = { ...steppingClock(), sleep: () => Promise.resolve() }
  const result = await settlePayment({ facilitator, chain, clock, deadlineMs }, {} as never, expected, headBlock)
  expect(result).toEqual({ status: 'unknown', reason: 'timeout' })
  expect(told?.aborted).toBe(true)
})

test('what a used nonce means: ours after the claim, credit before it, nothing when cancelled, never more than is seen', () => {
  expect(fromNonceEvidence(confirmedAt(10_001n), headBlock)).toMatchObject({ status: 'settled', feeMicro: 0n })
  expect(fromNonceEvidence(confirmedAt(10_000n), headBlock)).toEqual({
    status: 'spent_before',
    evidence: confirmedAt(10_000n),
  })
  expect(fromNonceEvidence({ status: 'canceled', transaction: named, blockNumber: 1n }, headBlock)).toEqual({
    status: 'failed',
    reason: 'authorization_canceled',
    message: 'The payer cancelled the authorization.',
    gasGwei: 0n,
  })
  expect(fromNonceEvidence({ status: 'mismatch', detail: 'x' }, headBlock)).toEqual({
    status: 'contradicted',
    detail: 'x',
  })
  expect(fromNonceEvidence({ status: 'could_not_read', reason: 'x' }, headBlock)).toEqual({
    status: 'unknown',
    reason: 'x',
  })
  for (const seen of [absent, { status: 'reverted', transaction: named, gasGwei: 1n }] as const)
    expect(fromNonceEvidence(seen, headBlock)).toEqual({
      status: 'unknown',
      reason: 'the nonce is used, its transaction was not found yet',
    })
})
