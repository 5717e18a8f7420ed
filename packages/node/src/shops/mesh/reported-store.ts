import type { Sql } from '@assay/till/store/database'
import { at, columns, type PeerRow, peerOf, type RawPeer, type Seen } from './store.ts'

// What peers report of other peers, and what this node reports of those that are silent.

export type Reports = { ownJws: string | undefined; silent: string[]; evidenceUntilMs: number }

/** What this node last said of itself, who lately answered and then did not, and when the newest evidence of a buyer arrived. */
export async function readReports(sql: Sql, sinceMs: number, limit: number): Promise<Reports> {
  const { rows } = await sql.query<{ own: string | null; silent: string[]; newest: Date | null }>(
    `select (select statement from mesh_self) as own, (select max(received_at) from mesh_evidence) as newest,
       array(select did from mesh_peer where state in ('suspect', 'dead') and failures > 0 and last_seen_at > ${at(1)}
             order by last_seen_at desc limit $2) as silent`,
    [sinceMs, limit],
  )
  const [row] = rows
  return {
    ...{ ownJws: row?.own ?? undefined, silent: row?.silent ?? [] },
    evidenceUntilMs: row?.newest?.getTime() ?? 0,
  }
}

/** Another node got no answer from them: takes those to visit at once that this one has neither seen nor tried since then. */
export async function takeSilentPeers(
  sql: Sql,
  dids: readonly string[],
  { nowMs, seenBeforeMs, leaseMs, limit }: { nowMs: number; seenBeforeMs: number; leaseMs: number; limit: number },
): Promise<PeerRow[]> {
  if (dids.length === 0) return []
  const { rows } = await sql.query<RawPeer>(
    `update mesh_peer set next_visit_at = ${at(5)}, last_tried_at = ${at(2)} where did in (
       select did from mesh_peer where did = any($1) and state = 'alive' and last_seen_at < ${at(3)}
         and coalesce(last_tried_at, 'epoch') < ${at(3)} order by last_seen_at limit $4 for update skip locked)
     returning ${columns}`,
    [dids, nowMs, seenBeforeMs, limit, nowMs + leaseMs],
  )
  return rows.map(peerOf)
}

/** The statements passed on by a peer that are newer than what is known of a live peer; mostly none. */
export async function newerOf<T extends { did: string; sequence: number }>(
  sql: Sql,
  changed: readonly T[],
): Promise<{ change: T; known: PeerRow }[]> {
  if (changed.length === 0) return []
  const { rows } = await sql.query<RawPeer & { place: bigint }>(
    `select n.place, ${columns.replaceAll(/(\w+)/g, 'p.$1')}
     from unnest($1::text[], $2::bigint[]) with ordinality as n (did, sequence, place)
     join mesh_peer p on p.did = n.did and p.state = 'alive' and p.sequence < n.sequence order by n.place`,
    [changed.map(({ did }) => did), changed.map(({ sequence }) => sequence)],
  )
  return rows.flatMap((raw) => {
    const change = changed[Number(raw.place) - 1]
    return change === undefined ? [] : [{ change, known: peerOf(raw) }]
  })
}

export type Reported = Pick<Seen, 'did' | 'sequence' | 'statement' | 'expiresAtMs' | 'capabilities' | 'onlyRenewed'>

/** A newer statement of a known peer that another one passed on: its own signature says that it lives, a visit can wait. */
export async function saveReported(sql: Sql, reported: Reported, nowMs: number, nextVisitMs: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update mesh_peer set sequence = $2, statement = $3, expires_at = ${at(4)}, capabilities = $5,
       changed_at = case when $8 then changed_at else ${at(6)} end,
       next_visit_at = greatest(next_visit_at, ${at(7)})
     where did = $1 and state = 'alive' and sequence < $2`,
    [
      ...[reported.did, reported.sequence, reported.statement, reported.expiresAtMs, reported.capabilities],
      ...[nowMs, nextVisitMs, reported.onlyRenewed ?? false],
    ],
  )
  return rowCount === 1
}

/** A name that was given has answered: its namer may give more again. */
export async function creditNamer(sql: Sql, did: string): Promise<void> {
  await sql.query(
    `update mesh_peer n set false_names = n.false_names - 1 from mesh_peer p
     where p.did = $1 and n.did = p.named_by and n.false_names > 0`,
    [did],
  )
}

export async function recordChangesRead(sql: Sql, did: string, changesMs: number): Promise<void> {
  await sql.query('update mesh_peer set changes_read_ms = $2 where did = $1', [did, changesMs])
}
