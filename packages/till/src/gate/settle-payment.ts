import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { type ChainPort, ChainUnreadable, type ExpectedTransfer } from '../chain/index.ts'
import type { Facilitator, FacilitatorPayment } from '../facilitators/port.ts'
import { isScreening, simulationConfirms } from '../facilitators/refusal-causes.ts'
import type { Clock } from '../kernel/clock.ts'
import {
  judgeNoAnswer,
  judgeRefusal,
  judgeReported,
  judgeUsedKey,
  type KeyReading,
  type Refusal,
  type RefusalFacts,
} from '../transitions/judge-settlement.ts'
import type { SettlementResult } from '../transitions/settlement-result.ts'

export type SettleDeps = { facilitator: Facilitator; chain: ChainPort; clock: Clock; deadlineMs: number }

// Made once: an abort without a reason makes an exception with a stack for every purchase.
const over = new Error('the wait for the settlement is over')

/** Settles through the facilitator and believes only our own read of the chain. */
export async function settlePayment(
  deps: SettleDeps,
  payment: FacilitatorPayment,
  expected: ExpectedTransfer,
  headBlock: bigint,
): Promise<SettlementResult> {
  const startedMs = deps.clock.nowMs()
  const timeout = new AbortController()
  const remainingMs = () => deps.deadlineMs - (deps.clock.nowMs() - startedMs)
  const timer = deps.clock.sleep(deps.deadlineMs, timeout.signal).then(
    () => 'late' as const,
    () => 'stopped' as const,
  )
  try {
    const outcome = await Promise.race([
      deps.facilitator.settle(payment, timeout.signal).catch((error: unknown) => ({
        status: 'unknown' as const,
        reason: error instanceof Error ? error.message.slice(0, 200) : 'the facilitator failed',
      })),
      timer.then(() => ({ status: 'unknown' as const, reason: 'timeout' })),
    ])
    if (outcome.status === 'submitted') return await confirm(deps, outcome, expected, headBlock, remainingMs)
    if (outcome.status === 'refused') return await afterRefusal(deps.chain, outcome, payment, expected, headBlock)
    return await afterUnknown(deps.chain, outcome, expected, headBlock)
  } finally {
    timeout.abort(over)
  }
}

const pollMs = 250
/** So long without the reported transaction, and the nonce is asked whether another one carried it. */
const nonceReadEveryMs = 2_000
/** Older uses of a nonce already have a row: reconciliation records every transfer. */
const nonceSearchBlocks = 5_000n
/** The nonce was unused at our claim, give or take an endpoint that was behind. */
const sinceClaimBlocks = 100n
export const sinceClaim = (headBlock: bigint) => blocksBefore(headBlock, sinceClaimBlocks)
const blocksBefore = (block: bigint, blocks: bigint) => (block > blocks ? block - blocks : 0n)

/** Waits for the sealed block that the facilitator promised, as long as the request may wait. */
async function confirm(
  deps: SettleDeps,
  submitted: { transaction: Hex; feeMicro: Micro; gasGwei?: bigint },
  expected: ExpectedTransfer,
  headBlock: bigint,
  remainingMs: () => number,
): Promise<SettlementResult> {
  let nonceReadMs = deps.clock.nowMs()
  const costs = { feeMicro: submitted.feeMicro, gasGwei: submitted.gasGwei ?? 0n }
  for (;;) {
    const evidence = await deps.chain.settlementByTransaction(submitted.transaction, expected)
    // Another transaction may have carried the authorization, as when its fee was raised; the reported one then reverts or
    // never appears.
    const isLast = remainingMs() <= pollMs
    let byKey: KeyReading | 'not_read' = 'not_read'
    if (evidence.status !== 'confirmed' && (isLast || deps.clock.nowMs() - nonceReadMs >= nonceReadEveryMs)) {
      nonceReadMs = deps.clock.nowMs()
      const found = await byNonceOnly(deps.chain, expected, headBlock, sinceClaimBlocks)
      // Nothing but a transfer ends the wait: the reported transaction may still be included, whatever else is seen now.
      if (found?.status === 'settled') byKey = found
    }
    let verdict = judgeReported(submitted.transaction, evidence, byKey)
    if (verdict === 'read_key')
      verdict = judgeReported(submitted.transaction, evidence, await byNonceOnly(deps.chain, expected, headBlock))
    if (typeof verdict !== 'string') return verdict.status === 'settled' ? { ...verdict, ...costs } : verdict
    if (isLast) return { status: 'unknown', reason: 'not seen in a block yet', transaction: submitted.transaction }
    await deps.clock.sleep(pollMs)
  }
}

async function afterRefusal(
  chain: ChainPort,
  refusal: Refusal,
  payment: FacilitatorPayment,
  expected: ExpectedTransfer,
  headBlock: bigint,
): Promise<SettlementResult> {
  const { reason } = refusal
  let facts: RefusalFacts = {
    byKey: await byNonceOnly(chain, expected, headBlock),
    outage: isOutage(reason),
    screening: isScreening(reason),
  }
  for (;;) {
    const verdict = judgeRefusal(refusal, facts)
    if (verdict.status !== 'need') return verdict
    if (verdict.fact === 'simulationConfirms') {
      const simulated = await chain.simulateTransfer(payment.authorization, payment.signature)
      facts = { ...facts, simulationConfirms: simulationConfirms(reason, simulated) }
      continue
    }
    try {
      facts = { ...facts, usedSince: await chain.authorizationUsed(expected.payer, expected.nonce, 'latest') }
    } catch (error) {
      if (error instanceof ChainUnreadable) return { status: 'unknown', reason: error.message }
      throw error
    }
  }
}

const isOutage = (reason: string) => reason.startsWith('facilitator_') || reason === 'settlement_aborted'

async function afterUnknown(
  chain: ChainPort,
  outcome: { reason: string; transaction?: Hex },
  expected: ExpectedTransfer,
  headBlock: bigint,
): Promise<SettlementResult> {
  return judgeNoAnswer(outcome, await byNonceOnly(chain, expected, headBlock))
}

/** What the nonce itself tells, or undefined when it is unused. */
async function byNonceOnly(
  chain: ChainPort,
  expected: ExpectedTransfer,
  headBlock: bigint,
  searchBlocks = nonceSearchBlocks,
): Promise<KeyReading> {
  try {
    if (!(await chain.authorizationUsed(expected.payer, expected.nonce, 'latest'))) return undefined
  } catch (error) {
    if (error instanceof ChainUnreadable) return { status: 'unknown', reason: error.message }
    throw error
  }
  const fromBlock = blocksBefore(headBlock, searchBlocks)
  return judgeUsedKey(await chain.settlementByNonce(expected, fromBlock), headBlock)
}
