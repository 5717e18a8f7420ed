import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import type { ReversalHook } from '@assay/till'
import type { Tx } from '@assay/till/store/database'
import { creatorAccounts } from '../accounts.ts'
import { accruedAccount, creatorReceivable } from './accrue.ts'

type Row = {
  id: bigint
  network: string
  registrable: string
  wallet: Address | null
  shard: number
  micro: Micro
  state: 'waiting' | 'accrued' | 'committing' | 'committed'
}

/**
 * A creator's part of a sale that was undone. What the books reversed, from the creator's balance or as a debt, the
 * accruals give back too, to the micro.
 */
export const reverseAccruals: ReversalHook = async (tx, sale) => {
  const { rows } = await tx.query<Row>(
    `select id, network, registrable, wallet, shard, micro, state from creator_accrual
     where payment_id = $1 and round = $2 and micro > 0 and state in ('waiting', 'accrued', 'committing', 'committed')
     order by id for update`,
    [sale.paymentId, sale.round],
  )
  const left = new Map<string, Micro>()
  for (const row of rows) {
    const names = accountsOf(row)
    const key = names.join(' ')
    const open = left.get(key) ?? (await reversedFrom(tx, sale.paymentId, names))
    const taken = smallerOf(open, row.micro)
    left.set(key, open - taken)
    if (taken > 0n) await insertCounter(tx, row, taken)
  }
  await cancelOut(
    tx,
    rows.map(({ id }) => id),
  )
}

/** Where the share was posted, and where it is owed if it was gone. */
function accountsOf({ network, registrable, wallet, shard }: Row): string[] {
  if (wallet === null) return [creatorAccounts.waiting(network, registrable, shard).name]
  return [accruedAccount(network, wallet, shard).name, creatorReceivable(network, wallet).name]
}

/** A reorg is posted as such, a refund with the payout that pays it. */
const reversingKinds = `('reorg', 'payout')`

/** What the reversal of this payment took from these accounts. */
async function reversedFrom(tx: Tx, paymentId: string, names: readonly string[]): Promise<Micro> {
  const { rows } = await tx.query<{ taken: Micro }>(
    `select coalesce(sum(e.amount_micro) filter (where e.amount_micro > 0), 0)::bigint as taken
     from ledger_transaction t join ledger_entry e on e.transaction_id = t.id join ledger_account a on a.id = e.account_id
     where t.payment_id = $1 and a.name = any($2) and t.kind in ${reversingKinds}
       and t.id = (select max(id) from ledger_transaction where payment_id = $1 and kind in ${reversingKinds})`,
    [paymentId, names],
  )
  return rows[0]?.taken ?? 0n
}

/** So much less is in the next root of this creator. */
async function insertCounter(tx: Tx, row: Row, taken: Micro): Promise<void> {
  await tx.query(
    `insert into creator_accrual (subject, place, payment_id, round, source, payer, network, domain, registrable, page, wallet,
       shard, micro, state, created_at, reverses)
     select subject, (select coalesce(max(c.place), 999) + 1 from creator_accrual c
         where c.subject = a.subject and c.round = a.round and c.place >= 1000),
       payment_id, round, source, payer, network, domain, registrable, page, wallet, shard, $2,
       case state when 'waiting' then 'waiting' else 'accrued' end, created_at, id from creator_accrual a where id = $1`,
    [row.id, -taken],
  )
}

/**
 * Shares that are not on their way to the chain and of which nothing is left go out of the books together with what
 * took them back: alone, the one could never be paid and the other would be taken from somebody's honest earnings.
 */
export async function cancelOut(tx: Tx, ids: readonly bigint[]): Promise<void> {
  await tx.query(
    `with whole as (
       select a.id from creator_accrual a where a.id = any($1::bigint[]) and a.state in ('waiting', 'accrued')
         and a.micro = (select -sum(c.micro) from creator_accrual c where c.reverses = a.id)
         and not exists (select from creator_accrual c where c.reverses = a.id and c.state <> a.state))
     update creator_accrual r set state = 'reversed' from whole where r.id = whole.id or r.reverses = whole.id`,
    [ids],
  )
}
