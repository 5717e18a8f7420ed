import type { AnswerContent, PaidRoute } from '../contract/paid-call.ts'
import type { Tx } from '../store/database.ts'
import { moves } from '../transitions/state-changes.ts'
import { type FinishDeps, paymentResponse, saleOf } from './finish-sale.ts'
import type { FinishedClaim } from './sale-postings.ts'
import { completeAnswers } from './store-finish.ts'

export type FreeSale = { claim: FinishedClaim; reservation: Parameters<typeof saleOf>[1]['reservation'] }

/**
 * Ends a payment that is charged nothing: its effect and `served` in one transaction, without a posting, for no money
 * moves. Only a wallet of ours could still take the permit, and its claim is active.
 */
export async function finishFree(
  deps: Pick<FinishDeps, 'database' | 'clock' | 'jws'>,
  { claim, reservation }: FreeSale,
  commit: PaidRoute['commit'],
): Promise<{ paymentResponse: string; answer: AnswerContent | undefined } | 'already'> {
  const nowMs = deps.clock.nowMs()
  return deps.database.transaction(async (tx) => {
    if (!(await markFree(tx, claim.id, nowMs))) return 'already'
    const settled = { reservation, provisional: false, transaction: '', settledAtMs: nowMs, feeMicro: 0n }
    const answer = await commit?.(tx, saleOf(claim, settled))
    const response = paymentResponse(deps, { claim, evidence: { transaction: '' } }, answer?.commitments)
    await completeAnswers(tx, [{ id: claim.id, paymentResponse: response, answer }])
    return { paymentResponse: response, answer }
  })
}

async function markFree(tx: Tx, id: string, nowMs: number): Promise<boolean> {
  const { rowCount } = await tx.query(
    `with moved as (
       update payment set state = $2, settled_at = $3, ended_at = $3, reason = null, final = true
       where id = $1 and state = any($4::text[]) and amount_micro = 0 returning network, payer, quoted_micro),
     flight as (
       update payer_in_flight f set in_flight = f.in_flight - 1, in_flight_micro = f.in_flight_micro - m.quoted_micro
       from moved m where f.network = m.network and f.payer = m.payer)
     select from moved`,
    [id, moves.serve.to, new Date(nowMs), ['settling']],
  )
  return rowCount > 0
}
