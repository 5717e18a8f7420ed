import { expect } from 'vitest'
import type { Address } from '../../packages/protocol/src/address.ts'
import { verifySeals } from '../../packages/till/src/ledger/index.ts'
import type { TillFixture } from './till-fixture.ts'
import { tokenBalance } from './token-balance.ts'

type PaymentRow = {
  id: string
  state: string
  network: string
  payer: Address
  amount_micro: bigint
  transaction: string | null
  log_position: number | null
}

export async function paymentRows(till: Pick<TillFixture, 'db'>): Promise<PaymentRow[]> {
  const { rows } = await till.db.owner.query<PaymentRow>(
    `select id, state, network, payer, amount_micro, transaction, log_position from payment order by claimed_at`,
  )
  return rows
}

/** What must hold whatever happened: I1, I3, I4, I5, I6 and that the books know every micro that moved. */
export async function expectSoundBooks(till: Pick<TillFixture, 'db'>): Promise<void> {
  const { owner } = till.db
  const unbalanced = await owner.query(
    `select e.transaction_id, a.unit from ledger_entry e join ledger_account a on a.id = e.account_id
     group by e.transaction_id, a.unit having sum(e.amount_micro) <> 0`,
  )
  expect(unbalanced.rows, 'I1: every posting sums to zero per unit').toEqual([])
  const served = await owner.query(
    `select p.id from payment p where p.state = 'served' and not exists (select 1 from ledger_transaction t where t.payment_id = p.id and t.kind = 'sale')`,
  )
  expect(served.rows, 'I6: what was served was paid and posted').toEqual([])
  const unpaid = await owner.query(
    `select t.payment_id from ledger_transaction t join payment p on p.id = t.payment_id
     where t.kind = 'sale' and p.state not in ('served','refunded') and not exists
       (select 1 from ledger_transaction r where r.payment_id = p.id and r.kind = 'reorg')`,
  )
  expect(unpaid.rows, 'nothing is posted as sold that was not served').toEqual([])
  const flights = await owner.query(
    `select f.network, f.payer, f.in_flight from payer_flight f
     left join (select network, payer, count(*) as n, sum(quoted_micro) as micro from payment
                where state in ('claimed','settling','unknown') group by network, payer) t using (network, payer)
     where f.in_flight <> coalesce(t.n, 0) or f.in_flight_micro <> coalesce(t.micro, 0)`,
  )
  expect(flights.rows, 'flight counters equal the rows of truth').toEqual([])
  const indebted = await owner.query(
    `select c.name from ledger_account c join ledger_balance b on b.account_id = c.id
     join ledger_account d on d.name = 'receivable:' || c.name join ledger_balance o on o.account_id = d.id
     where c.name like 'credit:%' and b.owed_micro > 0 and o.owed_micro < 0`,
  )
  expect(indebted.rows, 'nobody is given credit beside a debt of credit').toEqual([])
  expect(await verifySeals(owner)).toBeUndefined()
}

/** How often a payer was charged on chain, from the token's own balance. */
export async function spentOnChain(
  till: TillFixture,
  chain: 'base' | 'polygon',
  payer: string,
  fundedMicro = 10_000_000n,
): Promise<bigint> {
  return fundedMicro - (await tokenBalance(till[chain], payer))
}
