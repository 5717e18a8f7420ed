import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { fromHex } from '../../kernel/bytes.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import type { Sql, Tx } from '../../store/database.ts'
import type { Mandate } from './mandate-statement.ts'

/** Unconfirmed: it may have been revoked in time that a restore lost, and draws nothing until its owner sends it again. */
export type MandateState = 'open' | 'unconfirmed' | 'expired' | 'revoked'

/** A mandate as its parties see it. */
export type MandateView = {
  id: string
  owner: string
  delegate: string
  chain_id: number
  routes: string[]
  cap_per_call_micro: string
  cap_per_day_micro: string
  cap_total_micro: string
  drawn_today_micro: string
  drawn_total_micro: string
  expires_at: string
  nonce: string
  state: MandateState
  created_at: string
  revoked_at: string | null
}

/** What anybody may know of it: that there is one, of which kind, within which limits. */
export type PublicMandate = Omit<MandateView, 'drawn_today_micro' | 'drawn_total_micro' | 'nonce'> & { kind: 'mandate' }

type Row = {
  id: string
  owner: Address
  delegate: Address
  chain_id: number
  routes: string[]
  cap_call_micro: string
  cap_day_micro: string
  cap_total_micro: string
  valid_until: Date | string
  nonce: string
  created_at: Date | string
  revoked_at: Date | string | null
  day: string
  day_micro: string
  total_micro: string
  unconfirmed: boolean
}

/** Money, days and bytes as text: they travel through JSON as well. */
const columns = `id, owner, delegate, chain_id::float8 as chain_id, routes, cap_call_micro::text, cap_day_micro::text,
  cap_total_micro::text, valid_until, '0x' || encode(nonce, 'hex') as nonce, created_at, revoked_at, day::text as day,
  day_micro::text, total_micro::text, exists (select from pause where name = 'mandates' and paused and changed_by = 'node'
    and coalesce(mandate.confirmed_at, '-infinity') <= changed_at) as unconfirmed`

const msOf = (time: Date | string) => new Date(time).getTime()

function toView(row: Row, nowMs: number): MandateView {
  const today = new Date(nowMs).toISOString().slice(0, 10)
  const expired = msOf(row.valid_until) <= nowMs
  return {
    id: row.id,
    owner: checksumAddress(row.owner),
    delegate: checksumAddress(row.delegate),
    chain_id: row.chain_id,
    routes: row.routes,
    cap_per_call_micro: row.cap_call_micro,
    cap_per_day_micro: row.cap_day_micro,
    cap_total_micro: row.cap_total_micro,
    drawn_today_micro: row.day >= today ? row.day_micro : '0',
    drawn_total_micro: row.total_micro,
    expires_at: toRfc3339(msOf(row.valid_until)),
    nonce: row.nonce,
    state: row.revoked_at !== null ? 'revoked' : expired ? 'expired' : row.unconfirmed ? 'unconfirmed' : 'open',
    created_at: toRfc3339(msOf(row.created_at)),
    revoked_at: row.revoked_at === null ? null : toRfc3339(msOf(row.revoked_at)),
  }
}

/** Open, unexpired ones of an owner, newest first; for a statement that asks for more of a wallet than these. */
export const openMandates = {
  openSql: (wallet: string, now: string) =>
    `select ${columns} from mandate where owner = ${wallet} and revoked_at is null and valid_until > ${now}
      order by mandate.created_at desc, id desc limit 100`,
  show: (rows: readonly unknown[], nowMs: number): PublicMandate[] =>
    (rows as readonly Row[]).map((row) => {
      const { drawn_today_micro, drawn_total_micro, nonce, ...known } = toView(row, nowMs)
      return { kind: 'mandate', ...known }
    }),
}

export type MandatePage = { wallet: Address; ended: boolean; before: { createdAtMs: number; id: string } | undefined }

/** Those a wallet gave or was given, newest first. */
export async function listMandates(sql: Sql, page: MandatePage, limit: number, nowMs: number): Promise<MandateView[]> {
  const { rows } = await sql.query<Row>(
    `select ${columns} from mandate where (owner = $1 or delegate = $1)
       and ($2 or (revoked_at is null and valid_until > $3))
       and ($4::timestamptz is null or (created_at, id) < ($4, $5)) order by created_at desc, id desc limit $6`,
    [
      page.wallet,
      page.ended,
      new Date(nowMs),
      page.before === undefined ? null : new Date(page.before.createdAtMs),
      page.before?.id ?? '',
      limit,
    ],
  )
  return rows.map((row) => toView(row, nowMs))
}

export async function findMandate(
  sql: Sql,
  id: string,
  nowMs: number,
): Promise<{ owner: Address; view: MandateView } | undefined> {
  const { rows } = await sql.query<Row>(`select ${columns} from mandate where id = $1`, [id])
  const row = rows[0]
  return row && { owner: row.owner, view: toView(row, nowMs) }
}

export type NewMandate = {
  id: string
  mandate: Mandate
  chainId: number
  ownerKind: 'key' | 'contract'
  signature: Hex
}

export type InsertOutcome = 'new' | 'known' | 'nonce_used'

/** Storing the same text again changes nothing; another text under the same nonce is refused. */
export async function insertMandate(
  tx: Tx,
  { id, mandate, chainId, ownerKind, signature }: NewMandate,
  nowMs: number,
): Promise<InsertOutcome> {
  const { rowCount } = await tx.query(
    `insert into mandate (id, owner, delegate, chain_id, owner_kind, routes, cap_call_micro, cap_day_micro, cap_total_micro,
       valid_until, nonce, signature, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict do nothing`,
    [
      id,
      mandate.owner,
      mandate.delegate,
      chainId,
      ownerKind,
      mandate.routes,
      mandate.capPerCallMicro,
      mandate.capPerDayMicro,
      mandate.capTotalMicro,
      new Date(mandate.expiresAt * 1_000),
      fromHex(mandate.nonce),
      fromHex(signature),
      new Date(nowMs),
    ],
  )
  if (rowCount > 0) return 'new'
  const { rows } = await tx.query(`select from mandate where id = $1`, [id])
  return rows.length > 0 ? 'known' : 'nonce_used'
}

/** The owner itself asked for it, by the clock of the database: a restore that is noticed later makes it doubtful. */
export async function confirmMandate(tx: Tx, id: string): Promise<void> {
  await tx.query('update mandate set confirmed_at = now() where id = $1', [id])
}

/** How many open mandates an owner has; ended ones do not count. */
export async function countOpen(sql: Sql, owner: Address, nowMs: number): Promise<number> {
  const { rows } = await sql.query<{ open: number }>(
    `select count(*)::integer as open from mandate where owner = $1 and revoked_at is null and valid_until > $2`,
    [owner, new Date(nowMs)],
  )
  return rows[0]?.open ?? 0
}

/** At once and for good: the next draw looks at this row. */
export async function revokeMandate(sql: Sql, id: string, nowMs: number): Promise<void> {
  await sql.query(`update mandate set revoked_at = $2 where id = $1 and revoked_at is null`, [id, new Date(nowMs)])
}
