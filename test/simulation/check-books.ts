import { heldDifferences } from '../../packages/till/src/internal.ts'
import { balanceDifferences, verifySeals } from '../../packages/till/src/ledger/index.ts'
import { verifyAudit } from '../../packages/till/src/store/audit-log.ts'
import type { Sql } from '../../packages/till/src/store/database.ts'
import { Violation } from '../harness/violation.ts'
import type { Scene } from './buyers.ts'

const questions: readonly [rule: string, what: string, sql: string][] = [
  [
    'I1',
    'a posting does not sum to zero',
    `select e.transaction_id::text as found from ledger_entry e join ledger_account a on a.id = e.account_id
     group by e.transaction_id, a.unit having sum(e.amount_micro) <> 0`,
  ],
  ['I4', 'a debt is negative', `select account_id::text as found from ledger_balance where owed_micro < 0`],
  [
    'I4',
    'a share under its hold is negative',
    `select a.name as found from ledger_account a join ledger_entry e on e.account_id = a.id
     where a.name like 'payable:affiliate_pending:%' group by a.name having sum(e.amount_micro) > 0`,
  ],
  [
    'I5',
    'one transfer counts for two payments',
    `select network || ' ' || encode(transaction, 'hex') || ' ' || log_position as found from payment
     where log_position is not null and state in ('settled','served','credited','refunded')
     group by network, transaction, log_position having count(*) > 1`,
  ],
  [
    'I5',
    'one authorization has two claims',
    `select payer || ' ' || encode(payment_key, 'hex') as found from payment group by network, payer, payment_key having count(*) > 1`,
  ],
  [
    'I6',
    'served without a posting of the sale',
    `select p.id as found from payment p where p.state = 'served' and not exists
       (select 1 from ledger_transaction t where t.payment_id = p.id and t.kind = 'sale')`,
  ],
  [
    'I6',
    'posted as sold and neither served nor undone',
    `select p.id as found from payment p join ledger_transaction t on t.payment_id = p.id and t.kind = 'sale'
     where p.state not in ('served','refunded') and not exists
       (select 1 from ledger_transaction r where r.payment_id = p.id and r.kind = 'reorg')`,
  ],
  [
    'promise 1',
    'an effect took place twice',
    `select payment_id as found from simulated_effect group by payment_id, round having count(*) > 1`,
  ],
  [
    'promise 4',
    'served without its effect',
    `select p.id as found from payment p where p.state = 'served' and p.route_id like 'simulated.%' and not exists
       (select 1 from simulated_effect e where e.payment_id = p.id and not e.revoked)`,
  ],
  [
    'promise 4',
    'an effect without a sale',
    `select e.payment_id as found from simulated_effect e join payment p on p.id = e.payment_id
     where not e.revoked and p.state not in ('served','refunded')`,
  ],
  [
    'promise 4',
    'a period of a subscription without a sale, or a sale without its period',
    `select p.id as found from payment p left join subscription_purchase s on s.payment_id = p.id and s.revoked_at is null
     where (p.route_id like 'subscriptions.%' or p.route_id = 'market.intents.stream')
     group by p.id, p.state having count(s.payment_id) <> case when p.state = 'served' then 1 else 0 end`,
  ],
  [
    'promise 4',
    'a call of a channel was charged twice',
    'select payer as found from channel_sale group by payer, fingerprint having count(*) > 1',
  ],
  [
    'I11',
    'what is stamped is not one leaf of the log',
    `select a.id as found from attestation a
     where (select count(*) from log_entry l where l.subject = a.id and l.kind = a.kind) <> 1`,
  ],
  [
    'I9',
    'what creators get of a sale is not what the toll leaves',
    `select a.id as found from attestation a left join payment p on p.id = a.payment_id
     where (select coalesce(sum(c.micro), 0) from creator_accrual c where c.payment_id = a.payment_id) <>
       case when p.id is null or p.state = 'served' then a.price_micro - a.price_micro / 10
         when exists (select from creator_accrual c where c.payment_id = a.payment_id and c.state = 'expired')
           then a.price_micro - a.price_micro / 10
         else 0 end`,
  ],
  [
    'I10',
    'the collateral of an option series is not what it may have to pay',
    `select s.symbol as found from option_series s where s.state = 'trading' and coalesce(
       (select b.owed_micro from ledger_account a join ledger_balance b on b.account_id = a.id
        where a.name = 'option_collateral:' || s.symbol || '@eip155:8453'), 0) <>
       (select coalesce(sum(quantity), 0) from option_position where symbol = s.symbol and state = 'open') * s.cap_micro
       + (select coalesce(sum(open_quantity * (s.cap_micro - price_micro)), 0) from option_order where symbol = s.symbol)
       + (select coalesce(sum(f.quantity * (s.cap_micro - f.price_micro)), 0) from option_fill f
            join option_position p on p.id = f.position_id
          where p.symbol = s.symbol and p.state = 'held' and f.order_id is not null)
       + (select coalesce(sum(if_fixed_micro), 0) from option_claim where symbol = s.symbol and ended_at is null)`,
  ],
]

/** One round trip for all questions. A limit would have the planner look for a first row, and there is none to find. */
const allQuestions = questions
  .map(([, , text], number) => `select ${number} as number, min(found) as found from (${text}) q`)
  .join(' union all ')

/**
 * What must hold at every moment, whatever is under way: from the tables alone. Chains of hashes are followed from their
 * beginning, or, with `onlyGrown`, if they have grown since.
 */
export async function checkBooks({ world, history }: Scene, onlyGrown = false): Promise<void> {
  const sql = world.db.owner
  const { rows } = await sql.query<{ number: number; found: string | null }>(allQuestions)
  for (const { number, found } of rows) {
    if (found === null) continue
    const [rule, what] = questions[number] ?? ['', '']
    throw new Violation(rule, `${what} (${found})`)
  }
  const [fromEntries] = await balanceDifferences(sql)
  if (fromEntries)
    throw new Violation(
      'I3',
      `${fromEntries.name} is kept as ${fromEntries.kept} and its entries sum to ${fromEntries.fromEntries}`,
    )
  const [held] = await heldDifferences(sql)
  if (held) throw new Violation('I3', `${held.name} keeps ${held.kept} aside and its holds are ${held.holds}`)
  const before = history.chained
  await checkUnchanged(sql, history)
  const { seal, audited } = history.chained
  const verified = onlyGrown ? before.seal : undefined
  if (!(onlyGrown && seal?.seq === before.seal?.seq) && (await verifySeals(sql, undefined, verified)))
    throw new Violation('I11', 'the seals of the books do not verify')
  if (!(onlyGrown && audited === before.audited) && (await verifyAudit(sql)))
    throw new Violation('I11', 'the audit log does not verify')
}

type SealState = {
  before: bigint | null
  digest: bigint | null
  seen: string
  seq: bigint | null
  hash: Buffer | null
  audited: bigint
}

/**
 * I2: entries that were seen once are the same for ever. Whether they were seen is a question for the database: what a process
 * sent before its death may be committed late, under an earlier number.
 */
async function checkUnchanged(sql: Sql, history: Scene['history']): Promise<void> {
  const { rows } = await sql.query<SealState>(
    `select bit_xor(h) filter (where pg_visible_in_snapshot(xid, $1::pg_snapshot)) as before, bit_xor(h) as digest,
       pg_current_snapshot()::text as seen, (select max(seq) from ledger_seal) as seq,
       (select hash from ledger_seal order by seq desc limit 1) as hash, (select coalesce(max(id), 0) from audit_log) as audited
     from (select t.xid, hash_record_extended(row(e.transaction_id, e.line, e.account_id, e.amount_micro), 0) as h
       from ledger_entry e left join ledger_transaction t on t.id = e.transaction_id) e`,
    [history.entries.seen],
  )
  const [{ before, digest, seen, seq, hash, audited }] = rows as [SealState]
  if ((before ?? 0n) !== history.entries.digest)
    throw new Violation('I2', `entries that were seen in ${history.entries.seen} are not what they were`)
  history.entries = { seen, digest: digest ?? 0n }
  const { seal } = history.chained
  const isKnown = seq === null || hash === null || seq === seal?.seq
  history.chained = { seal: isKnown ? seal : { seq, hash }, audited }
}
