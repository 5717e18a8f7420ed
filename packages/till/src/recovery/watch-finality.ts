import type { Hex } from '@assay/protocol/bytes'
import { type Micro, smallerOf } from '@assay/protocol/money'
import { type ChainPort, ChainUnreadable } from '../chain/index.ts'
import type { ReversalHook } from '../contract/paid-call.ts'
import type { PaymentRecord } from '../contract/payment-record.ts'
import { saleOf } from '../gate/finish-sale.ts'
import { reversalLines } from '../gate/reversal-lines.ts'
import { type FinishedClaim, postingReference } from '../gate/sale-postings.ts'
import { findPayment, readAnswer } from '../gate/store-advance.ts'
import { fromHex } from '../kernel/bytes.ts'
import {
  type Account,
  accounts,
  type LedgerTransaction,
  lockBalances,
  owedTo,
  post,
  releaseTransfer,
  type TransferTurn,
  takePayToPart,
} from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'
import { decideAfterReorg, decideFinality, reorgLossAccount } from '../transitions/decide-finality.ts'
import type { Confirmed } from '../transitions/settlement-result.ts'
import { moves } from '../transitions/state-changes.ts'
import type { RecoverDeps } from './recover.ts'
import { hadEffect, hasNotFinal, markFinal, type NotFinal, notFinalUpTo } from './store-recover.ts'

export type FinalityDeps = RecoverDeps & { reversalHooks: readonly ReversalHook[] }

const perRunMax = 2_000

/** Marks what is final, and undoes what a reorg took away. */
export async function watchFinality(deps: FinalityDeps): Promise<void> {
  for (const chain of deps.chains.values())
    try {
      await watchChain(deps, chain)
    } catch (error) {
      // The other chains go on: exposure that never becomes final would stop their sales too.
      if (!(error instanceof ChainUnreadable)) throw error
      deps.log.warn({ network: chain.network.caip2, error: error.message }, 'finality could not be read')
    }
}

async function watchChain(deps: FinalityDeps, chain: ChainPort): Promise<void> {
  if (!(await hasNotFinal(deps.database, chain.network.caip2))) return
  const final = await chain.finalizedBlock()
  const payments = await notFinalUpTo(deps.database, chain.network.caip2, final.number, perRunMax)
  for (const [blockNumber, group] of groupByBlock(payments)) await checkBlock(deps, chain, blockNumber, group)
}

function groupByBlock(payments: readonly NotFinal[]): Map<bigint, NotFinal[]> {
  const groups = new Map<bigint, NotFinal[]>()
  for (const payment of payments) {
    if (payment.blockNumber === null) continue
    const group = groups.get(payment.blockNumber)
    if (group) group.push(payment)
    else groups.set(payment.blockNumber, [payment])
  }
  return groups
}

async function checkBlock(
  deps: FinalityDeps,
  chain: ChainPort,
  number: bigint,
  payments: readonly NotFinal[],
): Promise<void> {
  const canonical = await chain.blockHash(number)
  // One read settles all payments of a block that is still there.
  const there = payments.filter((payment) => decideFinality(payment, canonical) === 'final')
  if (there.length > 0) await markFinal(deps.database, there)
  for (const payment of payments)
    if (decideFinality(payment, canonical) === 'reorged')
      try {
        await afterReorg(deps, chain, payment)
      } catch (error) {
        // One that cannot be undone now must not keep the others from becoming final.
        if (error instanceof ChainUnreadable) throw error
        deps.metrics.count('alarms', { alarm: 'reorg_not_undone' })
        deps.log.error({ paymentId: payment.id, error: String(error) }, 'a reorganised payment could not be undone yet')
      }
}

async function afterReorg(deps: FinalityDeps, chain: ChainPort, seen: NotFinal): Promise<void> {
  const payment = await findPayment(deps.database, seen.id)
  if (!payment || payment.transaction === null || payment.blockHash !== seen.blockHash) return
  const evidence = await deps.schemes.of(payment).evidence.byTransaction(chain, payment, payment.transaction)
  const decision = decideAfterReorg(payment, evidence)
  if (decision.do === 'wait') return
  if (decision.do === 'move') return moveTo(deps, payment, decision.to)
  await requireRoute(deps, payment)
  const stored = await readAnswer(deps.database, payment.id)
  await deps.database.transaction((tx) => undo(deps, tx, payment, stored?.reservation ?? null))
  deps.metrics.count('alarms', { alarm: 'reorg' })
  deps.log.error(
    { paymentId: payment.id, block: payment.blockHash },
    'a reorg took a payment away; its postings are reversed',
  )
}

/**
 * How long to wait for a process that declares the route and can revoke the effect. The transfer is gone already, so
 * waiting holds back no money.
 */
const revokePatienceMs = 86_400_000

/** A process that does not know the route cannot revoke what was bought: it leaves the payment to one that does. */
async function requireRoute(deps: FinalityDeps, payment: PaymentRecord): Promise<void> {
  const { id, routeId, state, claimedAt } = payment
  if (state !== 'served' || deps.routeOf(routeId) || !(await hadEffect(deps.database, id))) return
  const isDeclaredLater = (deps.routePatienceMs ?? 0) > 0
  if (isDeclaredLater && deps.clock.nowMs() - claimedAt.getTime() < revokePatienceMs)
    throw new Error(`the route ${routeId} is not declared in this process`)
  deps.metrics.count('alarms', { alarm: 'effect_not_revoked' })
  deps.log.error({ paymentId: id, route: routeId }, 'a reorganised payment keeps what was bought: its route is gone')
}

/** The same transfer in another block. */
async function moveTo(deps: FinalityDeps, payment: PaymentRecord, place: Confirmed): Promise<void> {
  await deps.database.transaction(async (tx) => {
    await tx.query(`update payment set block_number = $2, block_hash = $3 where id = $1 and block_hash = $4`, [
      payment.id,
      place.blockNumber,
      fromHex(place.blockHash),
      fromHex(payment.blockHash as Hex),
    ])
    await tx.query(
      `update transfer set block_number = $4, block_hash = $5 where network = $1 and transaction = $2 and position = $3`,
      [
        payment.network,
        fromHex(payment.transaction as Hex),
        payment.logPosition,
        place.blockNumber,
        fromHex(place.blockHash),
      ],
    )
  })
}

/** Back to unknown: the payment may land again, and is then finished again under its own reference. */
async function undo(
  deps: FinalityDeps,
  tx: Tx,
  payment: PaymentRecord,
  reservation: PaymentReservation,
): Promise<void> {
  const { rowCount } = await tx.query(
    `with moved as (
       update payment set state = '${moves.undo.to}', reason = 'reorged', reorgs = reorgs + 1, block_number = null, block_hash = null,
         log_position = null, provisional = false, ended_at = null
       where id = $1 and block_hash = $2 and state = $3 returning network, payer, quoted_micro)
     insert into payer_in_flight as f (network, payer, in_flight, in_flight_micro) select network, payer, 1, quoted_micro from moved
     on conflict (payer, network) do update set in_flight = f.in_flight + 1, in_flight_micro = f.in_flight_micro + excluded.in_flight_micro`,
    [payment.id, fromHex(payment.blockHash as Hex), payment.state],
  )
  if (rowCount === 0) return
  await post(tx, [{ ...(await reversal(tx, payment)), transfer: await reversedTransfer(tx, payment) }])
  if (payment.state !== 'served') return
  const sale = saleOf(payment, {
    reservation,
    provisional: false,
    transaction: payment.transaction ?? '',
    settledAtMs: payment.settledAt?.getTime() ?? deps.clock.nowMs(),
    feeMicro: 0n,
  })
  await deps.routeOf(payment.routeId)?.revoke?.(tx, sale)
  for (const hook of deps.reversalHooks) await hook(tx, sale, { reason: 'reorg', micro: sale.amountMicro })
}

async function reversedTransfer(tx: Tx, payment: PaymentRecord): Promise<TransferTurn> {
  const { network, transaction, logPosition } = payment
  const released =
    transaction !== null &&
    logPosition !== null &&
    (await releaseTransfer(tx, { network, transaction, position: logPosition }, payment.id))
  if (!released) throw new Error(`the transfer of ${payment.id} is not posted for it`)
  return released
}

type PaymentReservation = NonNullable<Awaited<ReturnType<typeof readAnswer>>>['reservation']

/** What can be reversed reverses the posting; credit that was used is owed by its payer, anything else is our loss. */
async function reversal(tx: Tx, payment: PaymentRecord & FinishedClaim): Promise<LedgerTransaction> {
  const { network, amountMicro } = payment
  const reference = `${postingReference('reorg', payment)}:${payment.blockHash}`
  const lossAccount = reorgLossAccount(payment)
  if (lossAccount === 'shares')
    return {
      reference,
      kind: 'reorg',
      paymentId: payment.id,
      lines: [
        ...(await reversalLines(tx, payment, amountMicro)),
        { account: accounts.onchain(network, 'custody'), amount: -amountMicro },
      ],
    }
  const { account, atMostMicro, restOf = accounts.reorgLoss(network) } = await reverseFrom(tx, payment, lossAccount)
  const backMicro = smallerOf(atMostMicro, amountMicro)
  const lostMicro = amountMicro - backMicro
  return {
    reference,
    kind: 'reorg',
    paymentId: payment.id,
    lines: [
      ...(backMicro > 0n ? [{ account, amount: backMicro }] : []),
      ...(lostMicro > 0n ? [{ account: restOf, amount: lostMicro }] : []),
      { account: accounts.onchain(network, payment.payee), amount: -amountMicro },
    ],
  }
}

type Reversal = { account: Account; atMostMicro: Micro; restOf?: Account }

async function reverseFrom(
  tx: Tx,
  payment: PaymentRecord,
  lossAccount: ReturnType<typeof reorgLossAccount>,
): Promise<Reversal> {
  const { network, amountMicro } = payment
  if (lossAccount === 'clearing') return { account: accounts.clearingPayments(network), atMostMicro: amountMicro }
  if (lossAccount === 'credit') {
    const credit = accounts.credit(network, payment.payer)
    await lockBalances(tx, [credit])
    if (payment.payee === 'pay_to') await takePayToPart(tx, credit, amountMicro)
    return {
      account: credit,
      atMostMicro: await owedTo(tx, credit),
      restOf: accounts.receivable(network, payment.payer, 'credit'),
    }
  }
  return {
    account: accounts.revenue(network, payment.routeId),
    atMostMicro: lossAccount === 'revenue' ? amountMicro : 0n,
  }
}
