import type { AnswerContent } from '../contract/paid-call.ts'
import { fromHex } from '../kernel/bytes.ts'
import type { Sql, Tx } from '../store/database.ts'
import { openStates, sqlList } from '../transitions/payment-state.ts'
import type { Confirmed } from '../transitions/settlement-result.ts'
import { moves, type StateChange } from '../transitions/state-changes.ts'

export type ServedRow = {
  id: string
  evidence: Confirmed
  provisional: boolean
  /** Null where the sale has an effect: it is written later in the transaction, with the answer that the effect makes. */
  paymentResponse: string | null
}

/**
 * Payments are found one by one by their ids and filtered afterwards. With its state beside it the planner prefers the small
 * index of unfinished ones, which is full of those that have just ended until the next vacuum; and a join that was planned
 * while there were few payments would go on reading all of them.
 */
const servedSql = `
with input as (
  select * from unnest($1::text[], $2::bytea[], $3::bigint[], $4::bytea[], $5::integer[], $6::boolean[], $7::text[])
    as t(id, transaction, block_number, block_hash, log_position, provisional, payment_response)
),
before as (
  select p.id, p.state from (select id from input order by id) i
  cross join lateral (select p.id, p.state from payment p where p.id = i.id for no key update) p
),
moved as (
  update payment p set state = '${moves.serve.to}', transaction = i.transaction, block_number = i.block_number, block_hash = i.block_hash,
    log_position = i.log_position, provisional = i.provisional, had_effect = i.payment_response is null, reason = null, settled_at = coalesce(p.settled_at, $8), ended_at = $8
  from input i join before b using (id) where p.id = i.id and b.state in ${sqlList(moves.serve.from)}
  returning p.id, p.network, p.payer, p.quoted_micro, b.state as was
),
flight as (
  update payer_in_flight f set in_flight = f.in_flight - m.n, in_flight_micro = f.in_flight_micro - m.micro
  from (select network, payer, count(*)::int as n, sum(quoted_micro)::bigint as micro from moved where was in ${sqlList(openStates)} group by network, payer) m
  where f.network = m.network and f.payer = m.payer
),
answered as (
  update payment_answer a set payment_response = i.payment_response from input i join moved m using (id)
  where a.payment_id = i.id and i.payment_response is not null
)
select id, was from moved`

/** Which of the rows this call moved to `served`, and whether their money had been held in clearing before. */
export async function markServed(
  tx: Tx,
  rows: readonly ServedRow[],
  nowMs: number,
): Promise<Map<string, 'held' | 'fresh'>> {
  const result = await tx.query<{ id: string; was: string }>({
    name: 'payment-served',
    text: servedSql,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => fromHex(row.evidence.transaction)),
      rows.map((row) => row.evidence.blockNumber),
      rows.map((row) => fromHex(row.evidence.blockHash)),
      rows.map((row) => row.evidence.position),
      rows.map((row) => row.provisional),
      rows.map((row) => row.paymentResponse),
      new Date(nowMs),
    ],
  })
  return new Map(result.rows.map((row) => [row.id, row.was === 'settled' ? 'held' : 'fresh']))
}

/** Money seen on chain, effect not yet given. It leaves the payer's in-flight count: nothing more can move for it. */
export async function markHeld(tx: Tx, id: string, evidence: Confirmed, nowMs: number): Promise<boolean> {
  return endWithMoney(tx, id, { move: moves.hold, evidence, nowMs, reason: null })
}

export async function markCredited(
  tx: Tx,
  id: string,
  evidence: Confirmed,
  nowMs: number,
  reason: string,
): Promise<boolean> {
  return endWithMoney(tx, id, { move: moves.credit, evidence, nowMs, reason })
}

/** How a payment whose money has arrived leaves the states that are open. */
type MoneyArrived = { move: StateChange; evidence: Confirmed; nowMs: number; reason: string | null }

async function endWithMoney(tx: Tx, id: string, { move, evidence, nowMs, reason }: MoneyArrived): Promise<boolean> {
  const { rowCount } = await tx.query(
    `with before as (select id, state from payment where id = $1 and state = any($2::text[]) for update),
     moved as (
       update payment p set state = $3, transaction = $4, block_number = $5, block_hash = $6, log_position = $7, reason = $8,
         settled_at = coalesce(p.settled_at, $9), ended_at = case when $3 = 'credited' then $9::timestamptz end
       from before b where p.id = b.id returning p.id, p.network, p.payer, p.quoted_micro, b.state as was),
     flight as (
       update payer_in_flight f set in_flight = f.in_flight - 1, in_flight_micro = f.in_flight_micro - m.quoted_micro
       from moved m where m.was in ${sqlList(openStates)} and f.network = m.network and f.payer = m.payer)
     select id from moved`,
    [
      id,
      move.from,
      move.to,
      fromHex(evidence.transaction),
      evidence.blockNumber,
      fromHex(evidence.blockHash),
      evidence.position,
      reason,
      new Date(nowMs),
    ],
  )
  return rowCount > 0
}

export type CompletedAnswer = {
  id: string
  paymentResponse: string
  /** The answer that the effect made, if it replaced the prepared one. */
  answer: AnswerContent | undefined
}

/** One write of the stored answer for the receipt and for what an effect put in its place. */
export async function completeAnswers(sql: Sql, rows: readonly CompletedAnswer[]): Promise<void> {
  await sql.query({
    name: 'payment-complete-answers',
    text: `update payment_answer a set payment_response = n.payment_response, status = coalesce(n.status, a.status),
        content_type = coalesce(n.content_type, a.content_type), headers = coalesce(n.headers, a.headers),
        body = coalesce(n.body, a.body)
      from unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::jsonb[], $6::bytea[])
        n (id, payment_response, status, content_type, headers, body) where a.payment_id = n.id`,
    values: [
      rows.map(({ id }) => id),
      rows.map(({ paymentResponse }) => paymentResponse),
      rows.map(({ answer }) => answer?.status ?? null),
      rows.map(({ answer }) => answer?.contentType ?? null),
      rows.map(({ answer }) => (answer ? JSON.stringify(answer.headers ?? {}) : null)),
      rows.map(({ answer }) => (answer ? storable(answer.body) : null)),
    ],
  })
}

function storable(body: AnswerContent['body']): Buffer {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) throw new Error('a stored answer cannot be a stream')
  return Buffer.from(body)
}
