import { balanceDifferences, trialBalance, verifySeals } from '../../packages/till/src/ledger/index.ts'
import type { Database } from '../../packages/till/src/store/database.ts'

/** Rows that must not be there, by the rule that they break. */
const rules: Record<string, string> = {
  'I1: every posting sums to zero per unit': `
    select e.transaction_id, a.unit from ledger_entry e join ledger_account a on a.id = e.account_id
    group by e.transaction_id, a.unit having sum(e.amount_micro) <> 0`,
  'I6: what was served was paid and posted': `
    select p.id from payment p where p.state = 'served' and p.amount_micro > 0 and not exists
      (select 1 from ledger_transaction t where t.payment_id = p.id and t.kind = 'sale')`,
  'nothing is posted as sold that was not served': `
    select t.payment_id from ledger_transaction t join payment p on p.id = t.payment_id
    where t.kind = 'sale' and p.state not in ('served','refunded') and not exists
      (select 1 from ledger_transaction r where r.payment_id = p.id and r.kind = 'reorg')`,
  'in-flight counters equal the rows of truth': `
    select f.network, f.payer, f.in_flight from payer_in_flight f
    left join (select network, payer, count(*) as n, sum(quoted_micro) as micro from payment
               where state in ('claimed','settling','unknown') group by network, payer) t using (network, payer)
    where f.in_flight <> coalesce(t.n, 0) or f.in_flight_micro <> coalesce(t.micro, 0)`,
  'nobody is given credit beside a debt of credit': `
    select c.name from ledger_account c join ledger_balance b on b.account_id = c.id
    join ledger_account d on d.name = 'receivable:' || c.name join ledger_balance o on o.account_id = d.id
    where c.name like 'credit:%' and b.owed_micro > 0 and o.owed_micro < 0`,
}

/** What is wrong with the books of a node, in words; empty when nothing is. */
export async function faultsInBooks(database: Database): Promise<string[]> {
  const faults: string[] = []
  for (const [rule, sql] of Object.entries(rules)) {
    const { rows } = await database.query(sql)
    if (rows.length > 0) faults.push(`${rule}: ${rows.length} rows, such as ${shown(rows[0])}`)
  }
  const broken = await verifySeals(database)
  if (broken) faults.push(`seal ${broken.seq}: ${broken.what}`)
  for (const [unit, sum] of Object.entries((await trialBalance(database)).sumByUnit))
    if (sum !== 0n) faults.push(`${unit} sums to ${sum}`)
  const differences = await balanceDifferences(database)
  if (differences.length > 0) faults.push(`${differences.length} balances differ from their entries`)
  return faults
}

const shown = (row: unknown) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value))
