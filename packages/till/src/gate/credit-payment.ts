import { type ChainPort, ChainUnreadable } from '../chain/index.ts'
import type { GateOutcome } from '../contract/paid-call.ts'
import { movedMoneyOf, type PaymentRecord } from '../contract/payment-record.ts'
import type { ClaimKey, Scheme } from '../contract/scheme.ts'
import { creditLines } from '../credit/credit-balance.ts'
import { fromHex } from '../kernel/bytes.ts'
import type { Clock } from '../kernel/clock.ts'
import { accounts, addPayToPart, post, takeTransfer, transfersOfKey } from '../ledger/index.ts'
import type { Database, Tx } from '../store/database.ts'
import { gapUntil } from '../store/restore.ts'
import { decideSpentKey } from '../transitions/decide-spent-key.ts'
import { isInGap } from '../transitions/explain-transfer.ts'
import { paidOtherwise, reasonOfOtherUse } from '../transitions/other-use.ts'
import type { Confirmed } from '../transitions/settlement-result.ts'
import { moves } from '../transitions/state-changes.ts'
import { TransferAlreadyPosted } from './finish-sale.ts'
import type { GateDeps } from './gate-deps.ts'
import { isFinal } from './is-final.ts'
import { becomesCredit } from './other-use.ts'
import type { Purchase } from './purchase.ts'
import { refuse, refuse402 } from './refuse.ts'
import { type FinishedClaim, type MoneySource, postingReference } from './sale-postings.ts'
import { keySearchStart } from './settle-payment.ts'
import { endPayment } from './store-advance.ts'
import type { Claim } from './store-claim.ts'
import { markCredited } from './store-finish.ts'
import { isUsedAndRecorded } from './used-and-recorded.ts'

type CreditDeps = { database: Database; clock: Clock }

/** The row that is written for a transfer that nobody claimed. */
export type UnclaimedTransfer = Pick<
  Claim,
  | 'id'
  | 'network'
  | 'asset'
  | 'payer'
  | 'scheme'
  | 'paymentKey'
  | 'payTo'
  | 'payee'
  | 'amountMicro'
  | 'validBefore'
  | 'routeId'
  | 'resource'
  | 'fingerprint'
  | 'headBlock'
  | 'ref'
  | 'aff'
>

/**
 * A payment of ours whose money is here but buys nothing: it becomes the payer's credit, once. After a restore it may have
 * bought its answer already: then the claim is over, and reconciliation books the transfer.
 */
export async function creditPayment(
  deps: CreditDeps,
  claim: FinishedClaim,
  evidence: Confirmed,
  reason = 'spent_before_claim',
): Promise<void> {
  try {
    await deps.database.transaction(async (tx) => {
      const { rows } = await tx.query<{ state: string; restored: boolean }>(
        `select state, exists (select from restore_gap g
           where g.network = payment.network and g.detected_at > payment.claimed_at) as restored
         from payment where id = $1 for update`,
        [claim.id],
      )
      const wasHeld = rows[0]?.state === 'settled'
      if (wasHeld && rows[0]?.restored) return setAside(tx, claim, evidence, deps.clock.nowMs())
      if (!wasHeld && isInGap(evidence, await gapUntil(tx, claim.network)))
        throw new TransferAlreadyPosted(`the transfer of ${claim.id} may have been sold before a restore`)
      if (!(await markCredited(tx, claim.id, evidence, deps.clock.nowMs(), reason))) return
      await postCredit(tx, claim, wasHeld ? 'held' : await takeFor(deps, tx, claim, evidence))
    })
  } catch (error) {
    if (!(error instanceof TransferAlreadyPosted)) throw error
    await failPosted(deps, claim)
  }
}

/** Its transfer was posted as something else: the claim ends, and that posting stays. */
export async function failPosted({ database, clock }: CreditDeps, claim: Pick<FinishedClaim, 'id'>): Promise<void> {
  await endPayment(database, { id: claim.id, move: moves.failPosted, reason: paidOtherwise }, clock.nowMs())
}

/** Posted in the backup, held for finality, and perhaps delivered after it: nobody gets it a second time. */
async function setAside(tx: Tx, claim: FinishedClaim, evidence: Confirmed, nowMs: number): Promise<void> {
  const { from, to } = moves.setAside
  await tx.query(
    `update payment set state = $2, reason = $3, final = true, ended_at = $4 where id = $1 and state = any($5::text[])`,
    [claim.id, to, paidOtherwise, new Date(nowMs), from],
  )
  await tx.query(
    `update transfer set posted_as = 'gap', posted_for = $4
     where network = $1 and transaction = $2 and position = $3 and posted_as = 'payment' and posted_for = $5`,
    [claim.network, fromHex(evidence.transaction), evidence.position, claim.payee, claim.id],
  )
  const lines = [
    { account: accounts.clearingPayments(claim.network), amount: claim.amountMicro },
    { account: accounts.restoreGap(claim.network, claim.payee), amount: -claim.amountMicro },
  ]
  await post(tx, [
    { reference: postingReference('restore_gap', claim), kind: 'restore_gap', paymentId: claim.id, lines },
  ])
}

async function takeFor(deps: CreditDeps, tx: Tx, claim: FinishedClaim, evidence: Confirmed): Promise<MoneySource> {
  const posting = { as: 'payment', for: claim.id }
  const transfer = await takeTransfer(tx, movedMoneyOf(claim, evidence), posting, deps.clock.nowMs())
  if (!transfer) throw new TransferAlreadyPosted(`the transfer of ${claim.id} was posted before`)
  return { transfer }
}

async function postCredit(tx: Tx, claim: FinishedClaim, money: MoneySource): Promise<void> {
  const source =
    money === 'held' ? accounts.clearingPayments(claim.network) : accounts.onchain(claim.network, claim.payee)
  const lines = [
    { account: source, amount: claim.amountMicro },
    ...(await creditLines(tx, claim.network, claim.payer, claim.amountMicro)),
  ]
  await post(tx, [
    {
      reference: postingReference('credit', claim),
      kind: 'credit',
      paymentId: claim.id,
      ...(money === 'held' ? {} : money),
      lines,
    },
  ])
  if (claim.payee === 'pay_to') await addPayToPart(tx, accounts.credit(claim.network, claim.payer), lines)
}

/** The key was spent and no claim explains it: the answer for the payer. */
export function answerSpentPayment(
  deps: GateDeps,
  purchase: Purchase,
  claim: Claim,
  earlier?: Pick<PaymentRecord, 'id'>,
): Promise<GateOutcome> {
  const { call, scheme, chain } = purchase
  const { payer, network, headBlock } = claim
  const detail = scheme.reasons.usedUp
  const followed = earlier ? { extra: { status_url: deps.statusUrl(earlier.id) } } : {}
  const spent = { scheme, chain, key: claim, searchFrom: keySearchStart(headBlock) }
  return answerSpentKey(deps, spent, {
    payAgain: (reason) => refuse402(deps, call, { code: 'payment_failed', reason, detail, payer, network }),
    usedLongAgo: () => usedLongAgo(deps, purchase, claim, followed),
    followed,
  })
}

type SpentKeyOf = { scheme: Scheme; chain: ChainPort; key: ClaimKey; searchFrom: bigint }

type SpentKeyAnswers = {
  /** The 402: the key has brought us nothing, in a final block. */
  payAgain(reason: string): GateOutcome
  /** Its use is not in the blocks that were searched. */
  usedLongAgo(): Promise<GateOutcome>
  followed?: { extra?: { status_url: string } }
}

/** What a used key means to the caller that presents it, whether its payment fits still or not. */
export async function answerSpentKey(
  deps: GateDeps,
  { scheme, chain, key, searchFrom }: SpentKeyOf,
  { payAgain, usedLongAgo, followed = {} }: SpentKeyAnswers,
): Promise<GateOutcome> {
  const { network } = key
  const use = await scheme.evidence.useOf(chain, key, searchFrom)
  const transfer = use.status === 'transfer' ? use.transfer : undefined
  const place = use.status === 'canceled' ? use : transfer
  const { reason } = reasonOfOtherUse(scheme.reasons, deps.isOurs, network, { transfer })
  const broughtMoney = transfer !== undefined && reason === paidOtherwise
  const decision = decideSpentKey({
    use: use.status,
    // Finality that cannot be read is finality not reached.
    final: place !== undefined && (await isFinal(chain, place).catch(() => false)),
    broughtMoney,
    becomesCredit: broughtMoney && (await becomesCredit(deps.database, network, transfer)),
  })
  switch (decision) {
    case 'unknown':
      return refuse('settlement_unknown', { retryAfterSeconds: 10, ...followed })
    case 'used_long_ago':
      return usedLongAgo()
    case 'pay_again':
      return payAgain(reason)
    case 'dust':
      return refuse(scheme.reasons.reused, { detail: scheme.reasons.usedForDust })
    case 'credited':
      return refuse('payment_credited', {
        detail: 'The amount is added to your credit once the transfer is final.',
        ...followed,
      })
  }
}

/** Older than the blocks that are searched: what reached us then has its row. */
async function usedLongAgo(
  deps: GateDeps,
  { call, scheme, chain }: Purchase,
  claim: Claim,
  followed: { extra?: { status_url: string } },
): Promise<GateOutcome> {
  const { network, payer, paymentKey } = claim
  const isRecorded = await isUsedAndRecorded(deps.database, chain, scheme.evidence, claim).catch((error: unknown) => {
    if (error instanceof ChainUnreadable) return false
    throw error
  })
  const rows = await transfersOfKey(deps.database, { network, sender: payer, paymentKey })
  if (rows.some(({ recipient }) => deps.isOurs(network, recipient))) return refuse('payment_credited', followed)
  if (!isRecorded) return refuse('settlement_unknown', { retryAfterSeconds: 10, ...followed })
  const { usedBefore: reason, usedUp: detail } = scheme.reasons
  return refuse402(deps, call, { code: 'payment_failed', reason, detail, payer, network })
}

/** Inserts a claim without a request, already credited. Undefined when another process explained the transfer first. */
export async function insertCredited(
  deps: CreditDeps,
  claim: UnclaimedTransfer,
  evidence: Confirmed,
): Promise<string | undefined> {
  return deps.database
    .transaction(async (tx) => {
      const nowMs = deps.clock.nowMs()
      const { rowCount } = await tx.query(
        `with taken as (
           insert into claim (payer, network, payment_key, payment_id) values ($4, claim_network($2, $5), $5, $1) on conflict do nothing returning 1)
         insert into payment (id, state, network, asset, payer, scheme, payment_key, pay_to, payee, quoted_micro, amount_micro, valid_before, route_id, resource,
           fingerprint, revocable, owner, lease_until, claimed_at, head_block, transaction, block_number, block_hash, log_position, reason,
           settled_at, ended_at, delivered_at)
         select $1, 'credited', $2, $3, $4, $19, $5, $6, $7, $8::bigint, $8::bigint, $9::bigint, $10, $11, $12::bytea, false, 0, $13::timestamptz,
           $13::timestamptz, $14::bigint, $15::bytea, $16::bigint, $17::bytea, $18::integer, 'spent_before_claim', $13::timestamptz, $13::timestamptz,
           $13::timestamptz
         from taken`,
        [
          claim.id,
          claim.network,
          claim.asset,
          claim.payer,
          fromHex(claim.paymentKey),
          claim.payTo,
          claim.payee,
          claim.amountMicro,
          claim.validBefore,
          claim.routeId,
          claim.resource,
          claim.fingerprint,
          new Date(nowMs),
          claim.headBlock,
          fromHex(evidence.transaction),
          evidence.blockNumber,
          fromHex(evidence.blockHash),
          evidence.position,
          claim.scheme,
        ],
      )
      if (rowCount === 0) return undefined
      await postCredit(tx, claim, await takeFor(deps, tx, claim, evidence))
      return claim.id
    })
    .catch((error: unknown) => {
      if (error instanceof TransferAlreadyPosted) return undefined
      throw error
    })
}
