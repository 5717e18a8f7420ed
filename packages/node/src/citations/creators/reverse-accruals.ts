import type { Address } from '../../kernel/address.ts'
import type { Micro } from '../../kernel/money.ts'
import { accounts } from '../../ledger/index.ts'
import type { ReversalHook } from '../../payments/index.ts'
import type { Tx } from '../../store/database.ts'
import { accruedAccount } from './accrue.ts'

type Row = {
  id: bigint
  place: number
  network: string
  registrable: string
  wallet: Address | null
  shard: number
  micro: Micro
  state: 'waiting' | 'accrued' | 'committing' | 'committed'
}

/** A creator's part of a sale that was undone. What the books took back, the accruals give back too, to the micro. */
export const reverseAccruals: ReversalHook = async (tx, sale) => {
  const { rows } = await tx.query<Row>(
    `select id, place, network, registrable, wallet, shard, micro, state from creator_accrual
     where payment_id = $1 and round = $2 and micro > 0 and state in ('waiting', 'accrued', 'committing', 'committed')
     order by id for update`,
    [sale.paymentId, sale.round],
  )
  for (const row of rows) await reverseOne(tx, row, await takenFrom(tx, sale.paymentId, row))
}

/** A reorg is posted as such, a refund with the payout that pays it. */
const reversingKinds = `('reorg', 'payout')`

/** What the reversal of this payment took from the account in which the share was booked. */
async function takenFrom(tx: Tx, paymentId: string, row: Row): Promise<Micro> {
  const account =
    row.wallet === null
      ? accounts.creatorWaiting(row.network, row.registrable, row.shard)
      : accruedAccount(row.network, row.wallet, row.shard)
  const { rows } = await tx.query<{ taken: Micro }>(
    `select coalesce(sum(e.amount_micro) filter (where e.amount_micro > 0), 0)::bigint as taken
     from ledger_transaction t join ledger_entry e on e.transaction_id = t.id join ledger_account a on a.id = e.account_id
     where t.payment_id = $1 and a.name = $2 and t.kind in ${reversingKinds}
       and t.id = (select max(id) from ledger_transaction where payment_id = $1 and kind in ${reversingKinds})`,
    [paymentId, account.name],
  )
  const taken = rows[0]?.taken ?? 0n
  return taken > row.micro ? row.micro : taken
}

async function reverseOne(tx: Tx, row: Row, taken: Micro): Promise<void> {
  if (taken === 0n) return
  if (taken === row.micro && (row.state === 'waiting' || row.state === 'accrued')) {
    await tx.query(`update creator_accrual set state = 'reversed' where id = $1`, [row.id])
    return
  }
  // Already on its way to the chain, or only a part: the next root carries so much less.
  await tx.query(
    `insert into creator_accrual (subject, place, payment_id, round, source, payer, network, domain, registrable, wallet,
       shard, micro, state, created_at)
     select subject, place + 1000, payment_id, round, source, payer, network, domain, registrable, wallet, shard, $2,
       case state when 'waiting' then 'waiting' else 'accrued' end, created_at from creator_accrual where id = $1`,
    [row.id, -taken],
  )
}
