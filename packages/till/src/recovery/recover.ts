import type { Address } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'
import type { Micro } from '@assay/protocol/money'
import { type BlockRef, type ChainPort, ChainUnreadable } from '../chain/index.ts'
import type { PaidRoute } from '../contract/paid-call.ts'
import type { PaymentRecord } from '../contract/payment-record.ts'
import type { Schemes } from '../contract/scheme.ts'
import { chainVerdict } from '../gate/chain-verdict.ts'
import { creditPayment } from '../gate/credit-payment.ts'
import type { Exposure } from '../gate/exposure.ts'
import type { FinishSales } from '../gate/finish-sale.ts'
import { isFinal } from '../gate/is-final.ts'
import type { Owner } from '../gate/owner.ts'
import { endPayment, readAnswer } from '../gate/store-advance.ts'
import { recountInFlight } from '../gate/store-claim.ts'
import { isUsedAndRecorded } from '../gate/used-and-recorded.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { transfersOfKey } from '../ledger/index.ts'
import type { Database } from '../store/database.ts'
import { CommitUnknown, StoreUnavailable } from '../store/errors.ts'
import {
  decideAbandoned,
  decideByRows,
  decideHeld,
  decideUnknown,
  decideWatched,
  mayReadRows,
} from '../transitions/decide-recovery.ts'
import { decideFinish } from '../transitions/decide-settlement.ts'
import { reasonOfOtherUse } from '../transitions/other-use.ts'
import type { Confirmed } from '../transitions/settlement-result.ts'
import type { StateChange } from '../transitions/state-changes.ts'
import {
  abandonedPayments,
  hasUnsold,
  markFinal,
  markOwnerDead,
  ownersNotYetDead,
  paymentsIn,
  paymentsInTransaction,
  watchedPayments,
} from './store-recover.ts'

export type RecoverDeps = {
  database: Database
  chains: ReadonlyMap<string, ChainPort>
  schemes: Schemes
  clock: Clock
  log: Log
  metrics: Metrics
  owner: Owner
  finishSales: FinishSales
  /** See Facilitator. */
  settlementFee?(): Promise<Micro>
  inclusionMicroMax: Micro
  routeOf(routeId: string): PaidRoute | undefined
  /** Age of a payment from which a route that is not declared counts as no longer sold. Absent: at once. */
  routePatienceMs?: number
  isOurs(network: string, address: Address): boolean
  exposure: Pick<Exposure, 'admit'>
}

const perRunMax = 500
/** Payments checked side by side; each of them asks the chain a question or two. */
const atOnce = 16

/**
 * Brings every payment out of a middle state. It releases what was never submitted, finishes what was, and submits
 * nothing: nobody is charged for a buyer who has gone.
 */
export async function recoverPayments(deps: RecoverDeps): Promise<void> {
  await markDeadOwners(deps)
  for (const payment of await abandonedPayments(deps.database, perRunMax))
    await guarded(deps, payment, () => leaveOwner(deps, payment))
  const unknown = await eachIn(deps, 'unknown', resolveUnknown)
  deps.metrics.gauge('payments_unknown', unknown)
  await eachIn(deps, 'settled', releaseHeld)
  for (const chain of deps.chains.values()) await watchRefused(deps, chain)
}

/** A process is dead when PostgreSQL no longer holds its lock; its payments then have no owner. */
export async function markDeadOwners(deps: Pick<RecoverDeps, 'database' | 'owner' | 'clock'>): Promise<void> {
  for (const owner of await ownersNotYetDead(deps.database))
    if (owner !== deps.owner.id && !(await deps.owner.isAlive(owner)))
      await markOwnerDead(deps.database, owner, deps.clock.nowMs())
}

async function leaveOwner(deps: RecoverDeps, payment: PaymentRecord): Promise<void> {
  const decision = decideAbandoned(payment.state as 'claimed' | 'settling')
  await endPayment(deps.database, { id: payment.id, ...decision }, deps.clock.nowMs())
  deps.log.info({ paymentId: payment.id, was: payment.state }, 'took over a payment whose process is gone')
}

/** Checks all of them, page by page: many that cannot be resolved yet may come before the others. */
async function eachIn(
  deps: RecoverDeps,
  state: 'unknown' | 'settled',
  work: (deps: RecoverDeps, payment: PaymentRecord) => Promise<void>,
): Promise<number> {
  let seen = 0
  for (let after = ''; ; ) {
    const page = await paymentsIn(deps.database, state, after, atOnce)
    await Promise.all(page.map((payment) => guarded(deps, payment, () => work(deps, payment))))
    seen += page.length
    after = page.at(-1)?.id ?? ''
    if (page.length < atOnce) return seen
  }
}

/** One payment that cannot be resolved now must not keep the others waiting. */
async function guarded(deps: RecoverDeps, payment: PaymentRecord, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    deps.log.warn({ paymentId: payment.id, error: String(error) }, 'a payment could not be resolved yet')
  }
}

async function resolveUnknown(deps: RecoverDeps, payment: PaymentRecord): Promise<void> {
  const chain = chainOf(deps, payment)
  const scheme = deps.schemes.of(payment)
  const verdict = await chainVerdict(scheme, chain, payment)
  const other =
    verdict.status === 'used_otherwise'
      ? {
          final: await isFinal(chain, verdict.use),
          ...reasonOfOtherUse(scheme.reasons, deps.isOurs, payment.network, verdict.use),
        }
      : undefined
  const decision = decideUnknown(verdict, other)
  if (decision.do === 'finish') await finishOrCredit(deps, chain, payment, decision.evidence)
  else if (decision.do === 'credit') await creditPayment(deps, payment, decision.evidence)
  else if (decision.do === 'end') await endUnknown(deps, payment, decision)
  else if (decision.do === 'read_rows') await endByRows(deps, chain, payment)
}

async function endUnknown(
  deps: RecoverDeps,
  payment: PaymentRecord,
  { move, reason }: { move: StateChange; reason: string },
): Promise<void> {
  await endPayment(deps.database, { id: payment.id, move, reason }, deps.clock.nowMs())
  if (!move.final) return
  deps.metrics.count('payments_recovered', { outcome: reason })
  deps.log.warn({ paymentId: payment.id, reason }, 'the key of a payment was used for something else')
}

async function endByRows(deps: RecoverDeps, chain: ChainPort, payment: PaymentRecord): Promise<void> {
  const { network, payer, paymentKey } = payment
  const final = await chain.finalizedBlock()
  if (!mayReadRows(payment, final.timestamp)) return
  const usedAndRecorded = await isUsedAndRecorded(deps.database, chain, deps.schemes.of(payment).evidence, payment)
  const rows = usedAndRecorded ? await transfersOfKey(deps.database, { network, sender: payer, paymentKey }) : []
  const decision = decideByRows(
    payment,
    { usedAndRecorded, rows },
    (address) => deps.isOurs(network, address),
    deps.schemes.of(payment).reasons.paidToOthers,
  )
  if (decision.do === 'finish')
    await finishOrCredit(deps, chain, payment, { ...decision.row, status: 'confirmed', gasGwei: 0n })
  else if (decision.do === 'end') await endUnknown(deps, payment, decision)
}

/** A paid buyer waits no longer than this for an effect that cannot be committed. */
const commitPatienceMs = 60_000

/** Served, or credited with an alarm when the effect keeps failing: a payment never stays open for ever. */
async function finishOrCredit(
  deps: RecoverDeps,
  chain: ChainPort,
  payment: PaymentRecord,
  evidence: Confirmed,
): Promise<void> {
  try {
    await finish(deps, chain, payment, evidence)
  } catch (error) {
    const outage =
      error instanceof StoreUnavailable || error instanceof CommitUnknown || error instanceof ChainUnreadable
    if (outage || deps.clock.nowMs() - payment.claimedAt.getTime() < commitPatienceMs) throw error
    deps.metrics.count('alarms', { alarm: 'sale_uncommitted' })
    deps.log.error(
      { paymentId: payment.id, route: payment.routeId, error: String(error) },
      'a paid effect keeps failing; its price is credited',
    )
    await creditPayment(deps, payment, evidence, 'effect_failed')
  }
}

async function finish(deps: RecoverDeps, chain: ChainPort, payment: PaymentRecord, evidence: Confirmed): Promise<void> {
  const stored = await readAnswer(deps.database, payment.id)
  if (!stored) return creditPayment(deps, payment, evidence, 'no_stored_answer')
  const route = deps.routeOf(payment.routeId)
  if (!route) {
    // Not declared yet, or only in another process.
    if (deps.clock.nowMs() - payment.claimedAt.getTime() < (deps.routePatienceMs ?? 0)) return
    // No longer sold: the answer cannot be requested again, and the effect that was paid for cannot be committed.
    return creditPayment(deps, payment, evidence, 'route_gone')
  }
  const { amountMicro, payer, revocable } = payment
  // Finality that cannot be read is finality not reached.
  const final = await isFinal(chain, evidence).catch(() => false)
  // Nobody waits for it any more: with the cap used up it is given once its block is final.
  const hasRoom = revocable || final || (await deps.exposure.admit({ amountMicro, payer, revocable }))
  const outcome = await deps.finishSales.finish({
    claim: payment,
    evidence,
    ...(await settlementCost(deps, payment, evidence)),
    reservation: stored.reservation,
    ...decideFinish({ amountMicro, inclusionMicroMax: deps.inclusionMicroMax, revocable, final, hasRoom }),
    commit: route.commit,
    commitMany: route.commitMany,
  })
  deps.metrics.count('payments_recovered', { outcome: outcome.status })
  deps.log.info({ paymentId: payment.id, outcome: outcome.status }, 'finished a payment that was left behind')
}

/** Its part of the gas when it was our own transaction, otherwise what the facilitator charges for it. */
async function settlementCost(
  deps: RecoverDeps,
  payment: PaymentRecord,
  evidence: Confirmed,
): Promise<{ feeMicro: Micro; gasGwei: bigint }> {
  // It was held after its costs had been posted with the settlement.
  if (payment.state === 'settled') return { feeMicro: 0n, gasGwei: 0n }
  const carried = await paymentsInTransaction(deps.database, chainOfAsset(payment.network), evidence.transaction)
  if (carried === undefined) return { feeMicro: (await deps.settlementFee?.()) ?? 0n, gasGwei: 0n }
  return { feeMicro: 0n, gasGwei: (evidence.gasGwei + carried - 1n) / carried }
}

/** Paid, not revocable, above the limit: released once its block is final. */
async function releaseHeld(deps: RecoverDeps, payment: PaymentRecord): Promise<void> {
  const chain = chainOf(deps, payment)
  const final = await chain.finalizedBlock()
  if (payment.blockNumber === null || payment.transaction === null || final.number < payment.blockNumber) return
  const evidence = await deps.schemes.of(payment).evidence.byTransaction(chain, payment, payment.transaction)
  const decision = decideHeld(final.number, evidence)
  if (decision.do === 'finish') await finishOrCredit(deps, chain, payment, decision.evidence)
}

/** Anyone may still send a payment that we refused; once its time has passed at a final block we look again. */
async function watchRefused(deps: RecoverDeps, chain: ChainPort): Promise<void> {
  // An idle node asks for no final block.
  if (!(await hasUnsold(deps.database, chain.network.caip2))) return
  let final: BlockRef
  try {
    final = await chain.finalizedBlock()
  } catch (error) {
    if (error instanceof ChainUnreadable) return
    throw error
  }
  const payments = await watchedPayments(deps.database, chain.network.caip2, final.timestamp, perRunMax)
  for (const payment of payments)
    await guarded(deps, payment, async () => {
      const usedAtFinal = await deps.schemes.of(payment).evidence.isUsed(chain, payment, final.number)
      const usedAndRecorded =
        usedAtFinal && (await isUsedAndRecorded(deps.database, chain, deps.schemes.of(payment).evidence, payment))
      const rows = usedAndRecorded ? await transfersOfKey(deps.database, { ...payment, sender: payment.payer }) : []
      if (decideWatched({ usedAtFinal, usedAndRecorded, rows }) === 'final') await markFinal(deps.database, [payment])
    })
}

/** The in-flight counters against the rows of truth; a difference can only come from a crash between two statements. */
export async function repairInFlightCounts(deps: Pick<RecoverDeps, 'database' | 'log'>): Promise<void> {
  const { rows } = await deps.database.query<{ network: string; payer: `0x${string}` }>(
    `select f.network, f.payer from payer_in_flight f
     left join (select network, payer, count(*) as n, sum(quoted_micro) as micro from payment
                where phase = 'open' group by network, payer) t using (network, payer)
     where f.in_flight <> coalesce(t.n, 0) or f.in_flight_micro <> coalesce(t.micro, 0)`,
  )
  for (const row of rows)
    try {
      if (await recountInFlight(deps.database, row.network, row.payer))
        deps.log.warn({ payer: row.payer }, 'in-flight count repaired')
    } catch (error) {
      deps.log.warn({ payer: row.payer, error: String(error) }, 'an in-flight count could not be repaired yet')
    }
}

function chainOf(deps: RecoverDeps, payment: PaymentRecord): ChainPort {
  const chain = deps.chains.get(payment.network)
  if (!chain) throw new Error(`payment ${payment.id} is on ${payment.network}, which is not configured`)
  return chain
}
