import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import { type PaymentRecord, paymentColumns, type StoredAnswer, toPaymentRecord } from '../contract/payment-record.ts'
import { fromHex } from '../kernel/bytes.ts'
import type { Sql } from '../store/database.ts'
import { isOpen, isUnsold, sqlList } from '../transitions/payment-state.ts'
import { answeredBefore, moves, type StateChange, type Worker } from '../transitions/state-changes.ts'

/** What is written before money may move: the answer, its reservation, and that we are about to settle. */
export type Intent = {
  id: string
  /** What will be taken; never more than was quoted. */
  chargeMicro: Micro
  status: number
  contentType: string
  headers: Record<string, string>
  body: Buffer
  reservation: Json | undefined
  /** Tells this attempt from others of the same process. */
  attempt: number
  leaseMs: number
}

/** Found by their ids, as in `servedSql`. */
const intentSql = `
with input as (
  select * from unnest($1::text[], $2::integer[], $3::text[], $4::jsonb[], $5::bytea[], $6::jsonb[], $7::bigint[], $10::integer[],
    $11::bigint[]) as t(id, status, content_type, headers, body, reservation, attempt, lease_ms, charge_micro)
),
before as (
  select p.id, p.state, p.owner from (select id from input order by id) i
  cross join lateral (select p.id, p.state, p.owner from payment p where p.id = i.id for no key update) p
),
moved as (
  update payment p set state = '${moves.intend.to}', intent_at = $8, attempt = i.attempt, amount_micro = i.charge_micro,
    lease_until = (select lease_now()) + i.lease_ms * interval '1 millisecond'
  from input i join before b using (id) where p.id = i.id and b.state in ${sqlList(moves.intend.from)} and b.owner = $9
  returning p.id, p.payer
),
answered as (
  insert into payment_answer (payment_id, payer, status, content_type, headers, body, reservation)
  select id, payer, status, content_type, headers, body, reservation from input join moved using (id)
  on conflict (payment_id, payer) do update set status = excluded.status, content_type = excluded.content_type,
    headers = excluded.headers, body = excluded.body, reservation = excluded.reservation, payment_response = null
)
select id from moved`

/** True for each intent that still held its claim; false means recovery released it first, so it must not settle. */
export async function writeIntents(
  sql: Sql,
  intents: readonly Intent[],
  worker: { owner: bigint; nowMs: number },
): Promise<boolean[]> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'payment-intent',
    text: intentSql,
    values: [
      intents.map((intent) => intent.id),
      intents.map((intent) => intent.status),
      intents.map((intent) => intent.contentType),
      intents.map((intent) => JSON.stringify(intent.headers)),
      intents.map((intent) => intent.body),
      intents.map((intent) => (intent.reservation === undefined ? null : JSON.stringify(intent.reservation))),
      intents.map((intent) => intent.attempt),
      new Date(worker.nowMs),
      worker.owner,
      intents.map((intent) => intent.leaseMs),
      intents.map((intent) => intent.chargeMicro),
    ],
  })
  const moved = new Set(rows.map((row) => row.id))
  return intents.map((intent) => moved.has(intent.id))
}

/** Moves an unknown payment to settling, owned by this process. True for the first process that does so. */
export async function resumeClaim(
  sql: Sql,
  id: string,
  worker: { owner: bigint; nowMs: number; attempt: number; leaseMs: number },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update payment set state = '${moves.resume.to}', reason = null, owner = $2, attempt = $3,
       lease_until = lease_now() + $5::integer * interval '1 millisecond', intent_at = $4, client_gone = false
     where id = $1 and state in ${sqlList(moves.resume.from)} and reason = '${moves.resume.onlyFor}'`,
    [id, worker.owner, worker.attempt, new Date(worker.nowMs), worker.leaseMs],
  )
  return rowCount > 0
}

export type Ending = {
  id: string
  move: StateChange
  reason: string
  transaction?: Hex
  /** The process and attempt, for moves whose guard needs them. */
  worker?: Worker
}

/** Ends a payment without money, or marks it unknown, by the guard of the move. What is no longer open leaves the payer's in-flight count. */
export async function endPayment(sql: Sql, ending: Ending, nowMs: number): Promise<boolean> {
  const { move, worker } = ending
  if (move.by !== 'anyone' && worker === undefined) throw new Error(`a move to ${move.to} names who makes it`)
  const { rowCount } = await sql.query(
    `with moved as (
       update payment set state = $2, reason = $3, ended_at = case when $10 then null else $4::timestamptz end,
         transaction = coalesce($5, transaction), client_gone = client_gone or $10, final = final or $9
       where id = $1 and state = any($6::text[]) and ($7::bigint is null or owner = $7)
         and ($8::bigint is null or state <> 'settling' or attempt = $8)
       returning id, network, payer, payment_key, quoted_micro),
     freed as (
       update claim c set identifier_hash = null from moved m
       where $11 and c.payer = m.payer and c.network = claim_network(m.network, m.payment_key) and c.payment_key = m.payment_key
         and c.identifier_hash is not null),
     flight as (
       update payer_in_flight f set in_flight = f.in_flight - 1, in_flight_micro = f.in_flight_micro - m.quoted_micro
       from moved m where not $10 and f.network = m.network and f.payer = m.payer)
     select id from moved`,
    [
      ending.id,
      move.to,
      ending.reason.slice(0, 500),
      new Date(nowMs),
      ending.transaction === undefined ? null : fromHex(ending.transaction),
      move.from,
      move.by === 'anyone' ? null : worker?.owner,
      move.by === 'attempt' ? (worker?.attempt ?? -1) : null,
      move.final ?? false,
      isOpen(move.to),
      isUnsold(move.to),
    ],
  )
  return rowCount > 0
}

/** Nobody waits for this answer any more: the connection broke, or it was asked to retry later. A later fresh payment for the same request is then known to be a retry. */
export async function markClientGone(sql: Sql, id: string): Promise<void> {
  await sql.query(`update payment set client_gone = true where id = $1 and delivered_at is null`, [id])
}

export async function markDelivered(sql: Sql, ids: readonly string[], nowMs: number): Promise<void> {
  await sql.query({
    name: 'payment-delivered',
    // Found by their ids as in `servedSql`: a list of ids would be planned again each time, for it says which partitions to read.
    text: `with before as (
        select p.id, p.delivered_at from (select unnest($1::text[]) as id order by 1) i
        cross join lateral (select p.id, p.delivered_at from payment p where p.id = i.id for no key update) p)
      update payment p set delivered_at = $2 from before b where p.id = b.id and b.delivered_at is null`,
    values: [ids, new Date(nowMs)],
  })
}

export async function findPayment(sql: Sql, id: string): Promise<PaymentRecord | undefined> {
  const text = `select ${paymentColumns} from payment where id = $1`
  const { rows } = await sql.query({ name: 'read_payment', text, values: [id] })
  return rows[0] ? toPaymentRecord(rows[0]) : undefined
}

/** The row that conflicts with a claim: the same payment first, then the same identifier; one that is never settled last. */
export async function findConflict(
  sql: Sql,
  claim: { network: string; payer: Address; paymentKey: Hex; identifierHash: Buffer | null },
): Promise<PaymentRecord | undefined> {
  const { rows } = await sql.query(
    `select ${paymentColumns} from (
       select payment_id, true as same_payment from claim where payer = $2 and network = claim_network($1, $3) and payment_key = $3
       union all select payment_id, false from claim where payer = $2 and identifier_hash = $4) c
     cross join lateral (select * from payment p where p.id = c.payment_id) p
     order by p.reason is not distinct from '${answeredBefore}', same_payment desc limit 1`,
    [claim.network, claim.payer, fromHex(claim.paymentKey), claim.identifierHash],
  )
  return rows[0] ? toPaymentRecord(rows[0]) : undefined
}

export async function readAnswer(sql: Sql, paymentId: string): Promise<StoredAnswer | undefined> {
  const { rows } = await sql.query<{
    status: number
    content_type: string
    headers: Record<string, string>
    body: Buffer
    reservation: Json
    payment_response: string | null
  }>(
    `select status, content_type, headers, body, reservation, payment_response from payment_answer where payment_id = $1`,
    [paymentId],
  )
  const row = rows[0]
  if (!row) return undefined
  return {
    status: row.status,
    contentType: row.content_type,
    headers: row.headers,
    body: row.body,
    reservation: row.reservation,
    paymentResponse: row.payment_response,
  }
}
