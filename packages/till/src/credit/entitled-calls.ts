import type { Address } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import type { HoldEnd, HoldOutcome } from '../contract/entitlement.ts'
import { callFingerprint } from '../contract/fingerprint.ts'
import type { AnswerContent, PaidCall, PaidRoute } from '../contract/paid-call.ts'
import { sha256 } from '../kernel/bytes.ts'
import type { Clock } from '../kernel/clock.ts'
import { Problem } from '../kernel/problem.ts'
import type { Database, Sql, Tx } from '../store/database.ts'

/** A call that draws on a pass or on credit, as its row tells it. */
export type EntitledCall = {
  id: string
  account: Address
  subject: string
  amount: bigint
  routeId: string
  /** The effect of the route sends the money on: what is captured goes into clearing. */
  toClearing: boolean
  state: 'held' | 'captured' | 'released'
  /** Under whose signed terms it was drawn, and for which UTC day it was counted there. */
  mandateId: string | null
  mandateDay: string | null
}

type Row = {
  id: string
  account: Address
  subject: string
  amount: bigint
  route_id: string
  to_clearing: boolean
  state: EntitledCall['state']
  mandate_id: string | null
  mandate_day: string | null
}

const toCall = ({ route_id, to_clearing, mandate_id, mandate_day, ...rest }: Row): EntitledCall => ({
  ...rest,
  routeId: route_id,
  toClearing: to_clearing,
  mandateId: mandate_id,
  mandateDay: mandate_day,
})
const columns =
  'id, account, subject, amount, route_id, to_clearing, state, mandate_id, mandate_day::text as mandate_day'

/** The effect of such a route sends the money on. */
export function paysIntoClearing(route: Pick<PaidRoute, 'payee' | 'commit'>): boolean {
  return route.payee === 'custody' && route.commit !== undefined
}

/** Longer than any call can take; a hold older than that belongs to a process that is gone. */
export const holdMs = 40_000

export const idempotencyKeyPattern = /^[\x21-\x7e]{1,128}$/

/** The caller's own name for the call: with it a lost answer is given again and nothing is used twice. */
export function idempotencyKey(headers: ReadonlyMap<string, string>): string | undefined {
  const key = headers.get('idempotency-key')
  if (key !== undefined && !idempotencyKeyPattern.test(key))
    throw new Problem('bad_request', { detail: 'Idempotency-Key must have 1 to 128 visible ASCII characters.' })
  return key
}

/**
 * The stored name of a call made by somebody who draws on what belongs to another: a delegate under a mandate, the holder
 * of a pass. It has a space and a header cannot, so no name that the owner or another holder sends is ever the same.
 */
export function keyWithin(scope: 'mandate' | 'pass', id: string, key: string | undefined): string | undefined {
  return key && `${scope} ${toHex(sha256(`${id} ${key}`)).slice(2)}`
}

/** What became of an earlier call of the same name; undefined when there was none. */
export async function earlierCall(
  sql: Sql,
  port: string,
  account: Address,
  key: string | undefined,
  call: PaidCall,
): Promise<HoldOutcome | undefined> {
  if (key === undefined) return undefined
  const { rows } = await sql.query<{
    fingerprint: string
    state: EntitledCall['state']
    status: number | null
    content_type: string
    headers: Record<string, string>
    body: Buffer
  }>(
    `select e.fingerprint, e.state, a.status, a.content_type, a.headers, a.body from entitled_call e
     left join call_answer a on a.call_id = e.id and a.account = e.account
     where e.port = $1 and e.account = $2 and e.idempotency_key = $3 and e.state <> 'released'`,
    [port, account, key],
  )
  const row = rows[0]
  if (!row) return undefined
  if (row.fingerprint !== callFingerprint(call))
    return { status: 'refused', problem: new Problem('idempotency_conflict') }
  if (row.state === 'held' || row.status === null)
    return { status: 'refused', problem: new Problem('call_in_flight', { retryAfterSeconds: 1 }) }
  const { status, content_type: contentType, headers, body } = row
  return { status: 'served', answer: { status, contentType, headers, body } }
}

export type NewHold = {
  id: string
  port: string
  account: Address
  subject: string
  amount: bigint
  call: PaidCall
  key: string | undefined
}

/** False when another call of the same name came first. */
export async function insertHold(tx: Sql, clock: Clock, hold: NewHold): Promise<boolean> {
  const nowMs = clock.nowMs()
  const { rowCount } = await tx.query(
    `insert into entitled_call (id, port, account, subject, amount, route_id, fingerprint, idempotency_key, state, held_at, expires_at, to_clearing)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'held', $9, $10, $11) on conflict do nothing`,
    [
      hold.id,
      hold.port,
      hold.account,
      hold.subject,
      hold.amount,
      hold.call.route.id,
      callFingerprint(hold.call),
      hold.key ?? null,
      new Date(nowMs),
      new Date(nowMs + holdMs),
      paysIntoClearing(hold.call.route),
    ],
  )
  return rowCount > 0
}

/** Moves a hold to its end, once. Undefined when it had ended before. */
export async function endHold(
  tx: Sql,
  clock: Clock,
  id: string,
  state: 'captured' | 'released',
): Promise<EntitledCall | undefined> {
  const { rows } = await tx.query<Row>(
    `update entitled_call set state = $2, ended_at = $3 where id = $1 and state = 'held' returning ${columns}`,
    [id, state, new Date(clock.nowMs())],
  )
  return rows[0] && toCall(rows[0])
}

/** What became of a hold. */
export async function endOfHold(sql: Sql, id: string): Promise<HoldEnd> {
  const { rows } = await sql.query<{ state: EntitledCall['state'] }>('select state from entitled_call where id = $1', [
    id,
  ])
  const state = rows[0]?.state
  return { status: state === 'captured' || state === 'released' ? state : 'absent' }
}

export type AnsweredCall = { id: string; account: Address; answer: AnswerContent }

/** Only calls that their caller named can be asked for again, and a stream cannot. */
export async function keepAnswers(tx: Tx, named: readonly AnsweredCall[]): Promise<void> {
  const calls = named.flatMap(({ id, account, answer: { body, ...answer } }) =>
    typeof body === 'string' || body instanceof Uint8Array ? [{ id, account, ...answer, body: Buffer.from(body) }] : [],
  )
  if (calls.length === 0) return
  await tx.query({
    name: 'call-answer-insert',
    text: `insert into call_answer (call_id, account, status, content_type, headers, body)
      select * from unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::jsonb[], $6::bytea[])`,
    values: [
      calls.map(({ id }) => id),
      calls.map(({ account }) => account),
      calls.map(({ status }) => status),
      calls.map(({ contentType }) => contentType),
      calls.map(({ headers }) => JSON.stringify(headers ?? {})),
      calls.map(({ body }) => body),
    ],
  })
}

/** Names a call that was taken without a name, and keeps its answer; false when no such call is there. */
export async function nameCall(
  sql: Sql,
  id: string,
  { key, fingerprint }: { key: string; fingerprint: string },
  { body, ...answer }: AnswerContent,
): Promise<boolean> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return false
  const { rowCount } = await sql.query(
    `with named as (
       update entitled_call set idempotency_key = $2, fingerprint = $7
       where id = $1 and state = 'captured' and idempotency_key is null returning id, account)
     insert into call_answer (call_id, account, status, content_type, headers, body)
     select id, account, $3::integer, $4, $5::jsonb, $6::bytea from named`,
    [id, key, answer.status, answer.contentType, JSON.stringify(answer.headers ?? {}), Buffer.from(body), fingerprint],
  )
  return rowCount > 0
}

/** Whether it was taken without a name and still has none. */
export async function isNameless(
  sql: Sql,
  account: Address,
  mandateId: string | undefined,
  id: string,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `select from entitled_call where id = $1 and account = $2 and state = 'captured' and idempotency_key is null
       and mandate_id is not distinct from $3`,
    [id, account, mandateId ?? null],
  )
  return rowCount > 0
}

/** Holds whose time is over: their process died between the hold and its end. */
export async function expiredHolds(database: Database, clock: Clock, port: string, limit = 200): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `select id from entitled_call where state = 'held' and port = $1 and expires_at < $2 order by expires_at limit $3`,
    [port, new Date(clock.nowMs()), limit],
  )
  return rows.map((row) => row.id)
}
