import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { creditLines } from '../credit/credit-balance.ts'
import type { Clock } from '../kernel/clock.ts'
import { accounts, addPayToPart, type LedgerLine, post } from '../ledger/index.ts'
import { writeAudit } from '../store/audit-log.ts'
import type { Database, Tx } from '../store/database.ts'
import { isGapOpen } from '../store/restore.ts'

/** Credit of its sender, or the operator's own: a gift, or money that the operator sent. */
export type ReviewDecision = 'credit' | 'revenue'

export type DecideReviewOutcome =
  | { status: 'decided'; network: string; sender: Address; amountMicro: Micro }
  | { status: 'refused'; why: 'no_such_transfer' | 'not_in_review' | 'not_final' | 'restoring' }

type Row = {
  id: bigint
  network: string
  transaction: Hex
  position: number
  sender: Address
  amountMicro: Micro
  postedAs: string | null
  payee: 'pay_to' | 'custody'
  final: boolean
}

/**
 * What is posted for review, or as arrived in the gap of a restore, becomes somebody's, once. While a restore is not over it
 * waits: more of what was lost may be found, and until then nobody can tell what was sold with it.
 */
export async function decideReview(
  { database, clock }: { database: Database; clock: Clock },
  given: { transfer: bigint; decision: ReviewDecision; by: string; note?: string | undefined },
): Promise<DecideReviewOutcome> {
  return database.transaction(async (tx): Promise<DecideReviewOutcome> => {
    const row = await lockTransfer(tx, given.transfer)
    if (!row) return { status: 'refused', why: 'no_such_transfer' }
    if (row.postedAs !== 'review' && row.postedAs !== 'gap') return { status: 'refused', why: 'not_in_review' }
    if (!row.final) return { status: 'refused', why: 'not_final' }
    if (await isGapOpen(tx, row.network)) return { status: 'refused', why: 'restoring' }
    const { id, network, sender, amountMicro } = row
    const { decision, by, note = '' } = given
    await tx.query('update transfer set posted_as = $2, posted_for = $3, posted_at = $4 where id = $1', [
      id,
      decision,
      sender,
      new Date(clock.nowMs()),
    ])
    await postDecision(tx, row, decision, note)
    await writeAudit(tx, {
      actor: by,
      action: 'review.decide',
      subject: `transfer ${id}`,
      details: {
        decision,
        network,
        transaction: row.transaction,
        position: row.position,
        sender,
        amount_micro: amountMicro.toString(),
        note,
      },
    })
    return { status: 'decided', network, sender, amountMicro }
  })
}

async function lockTransfer(tx: Tx, id: bigint): Promise<Row | undefined> {
  const { rows } = await tx.query<Row>(
    `select id, network, '0x' || encode(transaction, 'hex') as transaction, position, sender, amount_micro as "amountMicro",
       posted_as as "postedAs", posted_for as payee, final
     from transfer where id = $1 for update`,
    [id],
  )
  return rows[0]
}

async function postDecision(tx: Tx, row: Row, decision: ReviewDecision, note: string): Promise<void> {
  const { network, sender, amountMicro, payee } = row
  const from = row.postedAs === 'gap' ? accounts.restoreGap : accounts.unmatched
  const to: LedgerLine[] =
    decision === 'credit'
      ? await creditLines(tx, network, sender, amountMicro)
      : [{ account: accounts.revenue(network, 'review'), amount: -amountMicro }]
  const reference = `review:${network}:${row.transaction}:${row.position}`
  const lines = [{ account: from(network, payee), amount: amountMicro }, ...to]
  await post(tx, [{ reference, kind: decision, memo: note, lines }])
  if (decision === 'credit' && payee === 'pay_to') await addPayToPart(tx, accounts.credit(network, sender), to)
}
