import type { Address } from '../kernel/address.ts'
import type { Micro } from '../kernel/money.ts'
import { Problem } from '../kernel/problem.ts'
import { accounts } from '../ledger/index.ts'
import { createPayout } from '../payouts/index.ts'
import type { Tx } from '../store/database.ts'
import { isRestoring } from '../store/restore.ts'
import { lockCredit, openPayments } from './credit-balance.ts'

export type CreditRefund = {
  network: string
  /** Off the credit. */
  refundedMicro: Micro
  costMicro: Micro
  /** On its way. */
  paidMicro: Micro
  payoutId: string
  /** Above the operator's limit a person looks at it first. */
  approved: boolean
}

export type RefundTerms = {
  payoutId: string
  wallet: Address
  network: string
  /** All that can be moved unless told. */
  amountMicro: Micro | undefined
  costMicro: Micro
  approvalMicro: Micro
  nowMs: number
}

/**
 * Credit goes back to whom it came from, on the chain it came from: balance less holds and bonds, final money only, less
 * what the transfer costs. Undefined when nothing worth a transfer is there.
 */
export async function refundCredit(tx: Tx, terms: RefundTerms): Promise<CreditRefund | undefined> {
  const { network, wallet, payoutId } = terms
  if (await isRestoring(tx, network))
    throw new Problem('credit_unavailable', {
      detail:
        'Refunds on this network are off until the books were compared with the chain. Try again in some minutes.',
      extra: { network },
    })
  const { movableMicro } = await lockCredit(tx, network, wallet)
  if ((await openPayments(tx, network, wallet)) > 0)
    throw new Problem('credit_unavailable', {
      detail: 'A payment of this wallet is not final. Ask again once it is.',
      extra: { network },
    })
  const refundedMicro = terms.amountMicro ?? movableMicro
  if (refundedMicro > movableMicro)
    throw new Problem('credit_unavailable', {
      detail: 'Less than that can be refunded at the moment.',
      extra: { network, available_micro: movableMicro.toString() },
    })
  const costMicro = (await wasPaidAfterRefusal(tx, network, wallet)) ? 0n : terms.costMicro
  const paidMicro = refundedMicro - costMicro
  if (paidMicro <= 0n) return undefined
  const approved = paidMicro <= terms.approvalMicro
  const payout = await createPayout(tx, {
    id: payoutId,
    network,
    payee: wallet,
    amountMicro: paidMicro,
    purpose: 'credit_refund',
    from: [
      { account: accounts.credit(network, wallet), amount: refundedMicro },
      ...(costMicro > 0n ? [{ account: accounts.revenue(network, 'credit.refund'), amount: -costMicro }] : []),
    ],
    source: accounts.credit(network, wallet),
    approved,
    nowMs: terms.nowMs,
  })
  if (payout.status !== 'created')
    throw new Problem('credit_unavailable', {
      detail: 'A refund to this wallet is being paid. Ask again once it is final.',
      extra: { network, payout: payout.id },
    })
  return { network, refundedMicro, costMicro, paidMicro, payoutId, approved }
}

/** Money that came although we had said it did not settle goes back without a cost, once. */
async function wasPaidAfterRefusal(tx: Tx, network: string, wallet: Address): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update payment set reason = 'refunded_after_refusal'
     where network = $1 and payer = $2 and state = 'credited' and reason = 'landed_after_refusal'`,
    [network, wallet],
  )
  return rowCount > 0
}
