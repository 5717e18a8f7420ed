import { encodeErrorResult, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import type { ChainPort, ChainTransfer, SettlementEvidence, SimulatedTransfer } from '../chain/index.ts'
import type { Facilitator, FacilitatorPayment, SettleOutcome } from '../contract/facilitator.ts'
import { createExactScheme } from '../schemes/exact/index.ts'
import { decideUsedKey } from '../transitions/settlement-outcome.ts'
import { another, chainShowing, confirmedAt, expected, named, type Shown, steppingClock } from './chain-stub.fixture.ts'
import { type Settlement, settlePayment } from './settle-payment.ts'

const headBlock = 10_000n
const deadlineMs = 30_000
const absent = { status: 'absent' } as const
const otherTransfer: ChainTransfer = {
  transaction: another,
  position: 1,
  blockNumber: 10_001n,
  blockHash: named,
  logIndex: 1,
  sender: expected.payer,
  recipient: expected.payTo,
  amountMicro: 1n,
  paymentKey: expected.paymentKey,
}
const otherUse = { blockNumber: 10_001n, blockHash: named, transfer: otherTransfer }
const submitted: SettleOutcome = { status: 'submitted', transaction: named, feeMicro: 7n, gasGwei: 3n }

const exact = createExactScheme([])
/** Passes the payment on as it is: what the facilitator receives is not tested here. */
const settlementOn = (chain: ChainPort, head = headBlock) =>
  ({
    scheme: {
      ...exact,
      settle: (_payment: unknown, _claim: unknown, to: Facilitator, signal: AbortSignal) =>
        to.settle({} as FacilitatorPayment, signal),
    },
    chain,
    payment: { signed: {} },
    claim: { ...expected, headBlock: head },
  }) as unknown as Settlement

async function settle(outcome: SettleOutcome | Error, shown: Shown, more: { head?: bigint } = {}) {
  const { chain, asked } = chainShowing(shown)
  const clock = steppingClock()
  const facilitator = {
    settle: async () => {
      if (outcome instanceof Error) throw outcome
      return outcome
    },
  } as unknown as Facilitator
  const result = await settlePayment({ facilitator, clock, deadlineMs }, settlementOn(chain, more.head))
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

test('after two seconds the key is asked, and what another transaction carried settles with the reported costs', async () => {
  const { result, asked, waitedMs } = await settle(submitted, {
    byTransaction: [absent],
    used: [true],
    byKey: [confirmedAt(10_001n, another)],
  })
  expect(result).toEqual({ status: 'settled', evidence: confirmedAt(10_001n, another), feeMicro: 7n, gasGwei: 3n })
  expect(waitedMs).toBe(2_000)
  expect(asked.searches).toEqual([9_900n])
  expect(asked.usedAt).toEqual(['latest'])
})

test('a chain younger than the search is searched from its first block', async () => {
  const { asked } = await settle(
    submitted,
    { byTransaction: [absent], used: [true], byKey: [confirmedAt(101n, another)] },
    { head: 100n },
  )
  expect(asked.searches).toEqual([0n])
})

test('nothing but a transfer after our claim ends the wait: the reported transaction may still land', async () => {
  const others: SettlementEvidence[] = [
    { status: 'canceled', transaction: another, blockNumber: 10_001n, blockHash: named },
    confirmedAt(10_000n, another),
    { status: 'used_otherwise', transfer: otherTransfer },
    { status: 'could_not_read', reason: 'x' },
  ]
  for (const seen of others) {
    const byTransaction = [...Array.from({ length: 20 }, () => absent), confirmedAt(10_002n)]
    const { result } = await settle(submitted, { byTransaction, used: [true], byKey: [seen] })
    expect(result).toMatchObject({ status: 'settled', evidence: { blockNumber: 10_002n } })
  }
})

test('an unused or unreadable key leaves the wait as it was, until the deadline', async () => {
  for (const used of [false, 'unreadable'] as const) {
    const { result, asked, waitedMs } = await settle(submitted, { byTransaction: [absent], used: [used] })
    expect(result).toEqual({ status: 'unknown', reason: 'not seen in a block yet', transaction: named })
    expect(waitedMs).toBe(29_750)
    // Every two seconds, and once more at the end.
    expect(asked.usedAt).toHaveLength(15)
    expect(asked.searches).toEqual([])
  }
})

test('at the deadline the key is asked a last time', async () => {
  const used = [...Array.from({ length: 14 }, () => false), true]
  const { result } = await settle(submitted, {
    byTransaction: [absent],
    used,
    byKey: [confirmedAt(10_001n, another)],
  })
  expect(result.status).toBe('settled')
})

test('a reported transaction that reverted contradicts, unless another one carried the payment', async () => {
  const reverted: SettlementEvidence = { status: 'reverted', transaction: named, gasGwei: 4n }
  for (const used of [false, 'unreadable'] as const) {
    const { result } = await settle(submitted, { byTransaction: [reverted], used: [used] })
    expect(result).toEqual({
      status: 'contradicted',
      detail: `${named} was reported as settled and does not carry it`,
    })
  }
  const carried = await settle(submitted, {
    byTransaction: [reverted],
    used: [true],
    byKey: [confirmedAt(10_001n, another)],
  })
  expect(carried.result).toMatchObject({ status: 'settled', evidence: { transaction: another }, feeMicro: 7n })
  expect(carried.asked.searches).toEqual([5_000n])
})

test('a transaction that used the key for another transfer is that, and no payment', async () => {
  const seen: SettlementEvidence = { status: 'used_otherwise', transfer: otherTransfer }
  const { result } = await settle(submitted, { byTransaction: [seen], used: [true], byKey: [seen] })
  expect(result).toEqual({ status: 'used_otherwise', use: otherUse })
})

test('a refusal before the payload left is believed only when the key is unused', async () => {
  const refused = { status: 'refused', reason: 'insufficient_funds', payloadSent: false } as const
  const costly: SettleOutcome = { ...refused, message: 'poor', gasGwei: 2n }
  expect((await settle(costly, { used: [false] })).result).toEqual({
    status: 'failed',
    reason: 'insufficient_funds',
    message: 'poor',
    gasGwei: 2n,
  })
  expect((await settle(refused, { used: [false] })).result).toEqual({
    status: 'failed',
    reason: 'insufficient_funds',
    gasGwei: 0n,
  })
  const moved = await settle(refused, { used: [true], byKey: [confirmedAt(10_001n)] })
  expect(moved.result).toEqual({ status: 'settled', evidence: confirmedAt(10_001n), feeMicro: 0n, gasGwei: 0n })
  expect((await settle(refused, { used: ['unreadable'] })).result).toEqual({
    status: 'unknown',
    reason: 'no endpoint answered',
  })
})

const revert = (text: string): SimulatedTransfer => ({
  status: 'fails',
  returnData: encodeErrorResult({ abi: parseAbi(['error Error(string)']), args: [text] }),
})

test('a refusal of a payload that left is believed at once only if our simulation fails for the same cause', async () => {
  const causes = [
    ['insufficient_funds', revert('ERC20: transfer amount exceeds balance')],
    ['invalid_exact_evm_insufficient_balance', revert('ERC20: transfer amount exceeds balance')],
    ['invalid_exact_evm_signature', revert('FiatTokenV2: invalid signature')],
    ['account_blacklisted', revert('Blacklistable: account is blacklisted')],
  ] as const
  for (const [reason, simulated] of causes) {
    const { result } = await settle({ status: 'refused', reason, payloadSent: true }, { used: [false], simulated })
    expect(result).toEqual({ status: 'failed', reason, gasGwei: 0n })
  }
  const others: SimulatedTransfer[] = [
    { status: 'passes' },
    { status: 'could_not_read', reason: 'x' },
    revert('FiatTokenV2: invalid signature'),
    { status: 'fails', returnData: '0x' },
  ]
  for (const simulated of others) {
    const refused: SettleOutcome = { status: 'refused', reason: 'insufficient_funds', payloadSent: true, gasGwei: 2n }
    expect((await settle(refused, { used: [false], simulated })).result).toEqual({
      status: 'refused',
      reason: 'insufficient_funds',
      gasGwei: 2n,
    })
  }
})

test('a cause that no simulation can show is never believed at once', async () => {
  for (const reason of ['invalid_scheme', 'invalid_exact_evm_transaction_simulation_failed', 'asset_paused']) {
    const simulated = revert('anything')
    const { result } = await settle({ status: 'refused', reason, payloadSent: true }, { used: [false], simulated })
    expect(result).toEqual({ status: 'refused', reason, gasGwei: 0n })
  }
})

test('a payer that the facilitator screens out is refused, which is no fault of the payment', async () => {
  for (const reason of ['sanctions_screening', 'policy_violation', 'kyt_blocked', 'payer_refused']) {
    const { result } = await settle({ status: 'refused', reason, payloadSent: true }, { used: [false] })
    expect(result).toEqual({ status: 'payer_refused', reason })
  }
})

test('an outage of the facilitator is no refusal: nothing was sent, and the same payment may be tried again', async () => {
  for (const reason of ['facilitator_unreachable', 'facilitator_', 'settlement_aborted']) {
    const { result } = await settle({ status: 'refused', reason, payloadSent: false }, { used: [false] })
    expect(result).toEqual({ status: 'not_sent', reason })
  }
  const { result } = await settle(
    { status: 'refused', reason: 'facilitator_unreachable', payloadSent: false },
    { used: [true], byKey: [confirmedAt(10_001n)] },
  )
  expect(result.status).toBe('settled')
})

test('an unknown outcome stays unknown with what was reported, unless the chain knows', async () => {
  const unknown: SettleOutcome = { status: 'unknown', reason: 'settlement_pending', transaction: named }
  const reason = 'settlement_pending'
  expect((await settle(unknown, { used: [false] })).result).toEqual({ status: 'unknown', reason, transaction: named })
  expect((await settle({ status: 'unknown', reason }, { used: ['unreadable'] })).result).toEqual({
    status: 'unknown',
    reason,
  })
  const settled = await settle(unknown, { used: [true], byKey: [confirmedAt(10_001n)] })
  expect(settled.result.status).toBe('settled')
})

test('a facilitator that throws leaves the payment unknown, in short words', async () => {
  const { result } = await settle(new Error('socket hang up '.repeat(30)), { used: [false] })
  expect(result).toMatchObject({ status: 'unknown' })
  expect((result as { reason: string }).reason).toHaveLength(200)
})

test('a facilitator that never answers is aborted at the deadline', async () => {
  const { chain } = chainShowing({ used: [false] })
  let aborted: AbortSignal | undefined
  const facilitator = {
    settle: (_: unknown, signal: AbortSignal) => {
      aborted = signal
      return new Promise(() => {})
    },
  } as unknown as Facilitator
  const clock = { ...steppingClock(), sleep: () => Promise.resolve() }
  const result = await settlePayment({ facilitator, clock, deadlineMs }, settlementOn(chain))
  expect(result).toEqual({ status: 'unknown', reason: 'timeout' })
  expect(aborted?.aborted).toBe(true)
})

test('what a used nonce means: ours after the claim, credit before it, another use otherwise, never more than is seen', () => {
  expect(decideUsedKey(confirmedAt(10_001n), headBlock)).toMatchObject({ status: 'settled', feeMicro: 0n })
  expect(decideUsedKey(confirmedAt(10_000n), headBlock)).toEqual({
    status: 'spent_before',
    evidence: confirmedAt(10_000n),
  })
  const canceled: SettlementEvidence = { status: 'canceled', transaction: named, blockNumber: 1n, blockHash: another }
  expect(decideUsedKey(canceled, headBlock)).toEqual({
    status: 'used_otherwise',
    use: { blockNumber: 1n, blockHash: another, transfer: undefined },
  })
  expect(decideUsedKey({ status: 'used_otherwise', transfer: otherTransfer }, headBlock)).toEqual({
    status: 'used_otherwise',
    use: otherUse,
  })
  expect(decideUsedKey({ status: 'could_not_read', reason: 'x' }, headBlock)).toEqual({
    status: 'unknown',
    reason: 'x',
  })
  for (const seen of [absent, { status: 'reverted', transaction: named, gasGwei: 1n }] as const)
    expect(decideUsedKey(seen, headBlock)).toEqual({
      status: 'unknown',
      reason: 'the payment is used, its transaction was not found yet',
    })
})
