import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { type ChainPort, ChainUnreadable } from '../chain/index.ts'
import type { Facilitator } from '../contract/facilitator.ts'
import type { Charge, Scheme, VerifiedPayment } from '../contract/scheme.ts'
import { isScreening } from '../facilitators/refusal-causes.ts'
import type { Clock } from '../kernel/clock.ts'
import {
  decideNoAnswer,
  decideRefusal,
  decideReported,
  decideUsedKey,
  type KeyReading,
  type Refusal,
  type RefusalFacts,
} from '../transitions/settlement-outcome.ts'
import type { SettlementResult } from '../transitions/settlement-result.ts'

export type SettleDeps = { facilitator: Facilitator; clock: Clock; deadlineMs: number }

/** A verified payment whose intent is stored, and how its scheme settles and shows it. */
export type Settlement = VerifiedPayment & {
  scheme: Pick<Scheme, 'settle' | 'confirmsRefusal' | 'evidence'>
  chain: ChainPort
  claim: Charge & { headBlock: bigint }
}

// Made once: an abort without a reason makes an exception with a stack for every purchase.
const over = new Error('the wait for the settlement is over')

/** Settles through the scheme and believes only our own read of the chain. */
export async function settlePayment(deps: SettleDeps, settlement: Settlement): Promise<SettlementResult> {
  const startedMs = deps.clock.nowMs()
  const timeout = new AbortController()
  const remainingMs = () => deps.deadlineMs - (deps.clock.nowMs() - startedMs)
  const timer = deps.clock.sleep(deps.deadlineMs, timeout.signal).then(
    () => 'late' as const,
    () => 'stopped' as const,
  )
  try {
    const outcome = await Promise.race([
      settlement.scheme
        .settle(settlement, settlement.claim, deps.facilitator, timeout.signal)
        .catch((error: unknown) => ({
          status: 'unknown' as const,
          reason: error instanceof Error ? error.message.slice(0, 200) : 'the facilitator failed',
        })),
      timer.then(() => ({ status: 'unknown' as const, reason: 'timeout' })),
    ])
    if (outcome.status === 'submitted') return await confirm(deps, outcome, settlement, remainingMs)
    if (outcome.status === 'refused') return await afterRefusal(outcome, settlement)
    return await afterUnknown(outcome, settlement)
  } finally {
    timeout.abort(over)
  }
}

const pollMs = 250
/** After this long without the reported transaction, the payment key is read, as another one may have used it. */
const keyReadEveryMs = 2_000
/** Older uses of a key already have a row: reconciliation records every transfer. */
const keySearchBlocks = 5_000n
export const keySearchStart = (head: bigint) => blocksBefore(head, keySearchBlocks)
/** The key was unused at our claim, give or take an endpoint that was behind. */
const sinceClaimBlocks = 100n
export const sinceClaim = (headBlock: bigint) => blocksBefore(headBlock, sinceClaimBlocks)
const blocksBefore = (block: bigint, blocks: bigint) => (block > blocks ? block - blocks : 0n)

/** Waits for the sealed block that was promised, as long as the request may wait. */
async function confirm(
  deps: SettleDeps,
  submitted: { transaction: Hex; feeMicro: Micro; gasGwei?: bigint },
  settlement: Settlement,
  remainingMs: () => number,
): Promise<SettlementResult> {
  const { scheme, chain, claim } = settlement
  let keyReadMs = deps.clock.nowMs()
  const costs = { feeMicro: submitted.feeMicro, gasGwei: submitted.gasGwei ?? 0n }
  for (;;) {
    const evidence = await scheme.evidence.byTransaction(chain, claim, submitted.transaction)
    // Another transaction may have submitted the payment, as when its fee was raised; the reported one then reverts or
    // never appears.
    const isLast = remainingMs() <= pollMs
    let byKey: KeyReading | 'not_read' = 'not_read'
    if (evidence.status !== 'confirmed' && (isLast || deps.clock.nowMs() - keyReadMs >= keyReadEveryMs)) {
      keyReadMs = deps.clock.nowMs()
      const found = await byKeyOnly(settlement, sinceClaim)
      // Nothing but a transfer ends the wait: the reported transaction may still be included, whatever else is seen now.
      if (found?.status === 'settled') byKey = found
    }
    let verdict = decideReported(submitted.transaction, evidence, byKey)
    if (verdict === 'read_key') verdict = decideReported(submitted.transaction, evidence, await byKeyOnly(settlement))
    if (typeof verdict !== 'string') return verdict.status === 'settled' ? { ...verdict, ...costs } : verdict
    if (isLast) return { status: 'unknown', reason: 'not seen in a block yet', transaction: submitted.transaction }
    await deps.clock.sleep(pollMs)
  }
}

async function afterRefusal(refusal: Refusal, settlement: Settlement): Promise<SettlementResult> {
  const { scheme, chain, claim } = settlement
  const { reason } = refusal
  let facts: RefusalFacts = {
    byKey: await byKeyOnly(settlement),
    outage: isOutage(reason),
    screening: isScreening(reason),
  }
  for (;;) {
    const verdict = decideRefusal(refusal, facts)
    if (verdict.status !== 'need') return verdict
    if (verdict.fact === 'simulationConfirms') {
      facts = { ...facts, simulationConfirms: await scheme.confirmsRefusal(settlement, claim, chain, reason) }
      continue
    }
    try {
      facts = { ...facts, usedSince: await scheme.evidence.isUsed(chain, claim, 'latest') }
    } catch (error) {
      if (error instanceof ChainUnreadable) return { status: 'unknown', reason: error.message }
      throw error
    }
  }
}

const isOutage = (reason: string) => reason.startsWith('facilitator_') || reason === 'settlement_aborted'

async function afterUnknown(
  outcome: { reason: string; transaction?: Hex },
  settlement: Settlement,
): Promise<SettlementResult> {
  return decideNoAnswer(outcome, await byKeyOnly(settlement))
}

/** What the key itself tells, or undefined when it is unused. */
async function byKeyOnly(
  { scheme: { evidence }, chain, claim }: Settlement,
  searchStart = keySearchStart,
): Promise<KeyReading> {
  try {
    if (!(await evidence.isUsed(chain, claim, 'latest'))) return undefined
  } catch (error) {
    if (error instanceof ChainUnreadable) return { status: 'unknown', reason: error.message }
    throw error
  }
  return decideUsedKey(await evidence.byKey(chain, claim, searchStart(claim.headBlock)), claim.headBlock)
}
