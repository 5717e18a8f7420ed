import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import { Problem } from '../kernel/problem.ts'
import { accounts, takePayToPart } from '../ledger/index.ts'
import { createPayout, creditRefundPurpose, creditRefundPurposes, payToRefundPurpose } from '../payouts/index.ts'
import type { Sql, Tx } from '../store/database.ts'
import { isRestoring } from '../store/restore.ts'
import { lockCredit, openPayments } from './credit-balance.ts'
import { recentlyPaidIn } from './recently-paid-in.ts'

export type CreditRefund = {
  network: string
  /** Taken from the credit balance: `paidMicro` plus `costMicro`. */
  refundedMicro: Micro
  costMicro: Micro
  /** Sent to the wallet. */
  paidMicro: Micro
  payoutId: string
  /** Above the operator's limit it waits for approval. */
  approved: boolean
}

export type RefundTerms = {
  nextId(): string
  wallet: Address
  network: string
  /** Default: all that can be moved. */
  amountMicro: Micro | undefined
  costMicro: Micro
  approvalMicro: Micro
  nowMs: number
}

/**
 * Credit goes back to whom it came from, on the chain it came from: balance less holds and bonds, final money only, less
 * what each transfer costs. What arrived at CUSTODY goes first; what arrived at PAY_TO is its own payout, which
 * waits until the operator has put the money there. Empty when nothing worth a transfer is there.
 */
export async function refundCredit(tx: Tx, terms: RefundTerms): Promise<CreditRefund[]> {
  const { network, wallet } = terms
  if (await isRestoring(tx, network))
    throw new Problem('credit_unavailable', {
      detail:
        'Refunds on this network are off until the books were compared with the chain. Try again in some minutes.',
      extra: { network },
    })
  const { movableMicro, inCustodyMicro } = await lockCredit(tx, network, wallet)
  if ((await openPayments(tx, network, wallet)) > 0)
    throw new Problem('credit_unavailable', {
      detail: 'A payment of this wallet is not final. Ask again once it is.',
      extra: { network },
    })
  const askedMicro = terms.amountMicro ?? movableMicro
  if (askedMicro > movableMicro)
    throw new Problem('credit_unavailable', {
      detail: 'Less than that can be refunded at the moment.',
      extra: { network, available_micro: movableMicro.toString() },
    })
  const fromCustody = smallerOf(askedMicro, inCustodyMicro)
  const costMicro = (await wasPaidAfterRefusal(tx, network, wallet)) ? 0n : terms.costMicro
  const parts = [
    { purpose: creditRefundPurpose, refundedMicro: fromCustody },
    { purpose: payToRefundPurpose, refundedMicro: askedMicro - fromCustody },
  ].filter(({ refundedMicro }) => refundedMicro > costMicro)
  const approved = askedMicro <= terms.approvalMicro
  const refunds: CreditRefund[] = []
  for (const part of parts) {
    const payout = await createPart(tx, terms, { ...part, costMicro, approved })
    if (payout === undefined) continue
    const paidMicro = part.refundedMicro - costMicro
    refunds.push({ network, refundedMicro: part.refundedMicro, costMicro, paidMicro, payoutId: payout, approved })
  }
  if (refunds.length === 0 && terms.amountMicro !== undefined) await requireNoneInProgress(tx, network, wallet)
  return refunds
}

type Part = { purpose: string; refundedMicro: Micro; costMicro: Micro; approved: boolean }

/** Undefined while another payout of this part is under way: what is left of the credit stays. */
async function createPart(tx: Tx, terms: RefundTerms, part: Part): Promise<string | undefined> {
  const { network, wallet, nowMs } = terms
  const { purpose, refundedMicro, costMicro, approved } = part
  const credit = accounts.credit(network, wallet)
  const amountMicro = refundedMicro - costMicro
  const recentMicro = await recentlyPaidIn(tx, network, wallet, nowMs)
  if ((await openRefunds(tx, network, wallet, [purpose])).length > 0) return undefined
  if (purpose === payToRefundPurpose) await takePayToPart(tx, credit, refundedMicro)
  const payout = await createPayout(tx, {
    id: terms.nextId(),
    network,
    payee: wallet,
    amountMicro,
    uncountedMicro: smallerOf(recentMicro, amountMicro),
    purpose,
    from: [
      { account: credit, amount: refundedMicro },
      ...(costMicro > 0n ? [{ account: accounts.revenue(network, 'credit.refund'), amount: -costMicro }] : []),
    ],
    source: credit,
    approved,
    nowMs,
  })
  if (payout.status !== 'created') throw inProgress(network, payout.id)
  return payout.id
}

async function openRefunds(sql: Sql, network: string, wallet: Address, purposes: readonly string[]): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select id from payout where network = $1 and payee = $2 and purpose = any($3::text[])
       and state in ('waiting', 'queued', 'signed', 'parked') order by created_at, id`,
    [network, wallet, purposes],
  )
  return rows.map(({ id }) => id)
}

const inProgress = (network: string, payout: string): Problem =>
  new Problem('credit_unavailable', {
    detail: 'A refund to this wallet is being paid. Ask again once it is final.',
    extra: { network, payout },
  })

/** Nothing to refund reads differently when a refund has just taken it. */
export async function requireNoneInProgress(sql: Sql, network: string, wallet: Address): Promise<void> {
  const [open] = await openRefunds(sql, network, wallet, creditRefundPurposes)
  if (open !== undefined) throw inProgress(network, open)
}

/** Money that came although we had said it did not settle goes back without a cost, once. */
async function wasPaidAfterRefusal(tx: Tx, network: string, wallet: Address): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update payment set reason = 'refunded_after_refusal'
     where network = $1 and payer = $2 and phase = 'credited' and reason = 'landed_after_refusal'`,
    [network, wallet],
  )
  return rowCount > 0
}
