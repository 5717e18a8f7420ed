import type { Sql } from '@assay/till/store/database'
import { isOld } from './candidate-store.ts'
import { at, columns, type PeerRow, peerOf, type RawPeer } from './store.ts'

/** What a round has to do. */
export type Due = {
  /** Addresses of nodes to join that have no row yet: of those given, and those named at the command line. */
  seeds: readonly string[]
  /** Whether any peer is known at all. */
  anybody: boolean
  /** Peers that have a place. */
  live: number
  /** Those to visit: of the ones that have a place, and of all others. Of these seeds come first, then one of each namer, and first of the one that waited longest. */
  shown: readonly string[]
  others: readonly string[]
  /** Some peer's prices were not looked at for long enough. */
  prices: boolean
  /** Some peer is to be forgotten. */
  old: boolean
}

export type DueTimes = { nowMs: number; pricesBeforeMs: number; expireBeforeMs: number; room: Room }

/** Visits that may begin. */
export type Room = { shown: number; others: number }

/** Read in one statement: mostly there is little to do. */
export async function findDue(
  sql: Sql,
  seeds: readonly string[],
  { nowMs, pricesBeforeMs, expireBeforeMs, room }: DueTimes,
): Promise<Due> {
  const { rows } = await sql.query<Omit<Due, 'live'> & { live: bigint }>(
    `select exists (select from mesh_peer) as anybody,
       (select count(*) from mesh_peer where state in ('alive', 'suspect')) as live,
       array(select did from mesh_peer where next_visit_at <= ${at(1)} and state in ('alive', 'suspect')
             order by next_visit_at limit $3) as shown,
       array(select did from (select did, found_by, failures, served_at, row_number() over (
                                partition by named_by order by failures, next_visit_at) as turn
                              from (select *, coalesce(max(last_tried_at) over (partition by named_by), 'epoch') as served_at
                                    from mesh_peer where state in ('candidate', 'dead')) as without_place
                              where next_visit_at <= ${at(1)}) as waiting
             order by found_by <> 'seed', turn, served_at, failures limit $6) as others,
       exists (select from mesh_peer where state = 'alive' and coalesce(prices_checked_at, 'epoch') <= ${at(2)}) as prices,
       exists (select from mesh_peer where ${isOld(4)}) as old,
       array(select address from (select unnest($5::text[]) as address
                                  union (select address from mesh_seed order by address limit 64)) as named
             where not exists (select from mesh_peer p where p.address = named.address)) as seeds`,
    [nowMs, pricesBeforeMs, room.shown, expireBeforeMs, seeds, room.others],
  )
  const [due] = rows
  if (due === undefined) throw new Error('the database answered without a row')
  return { ...due, live: Number(due.live) }
}

/** Takes peers whose visit is due; anyone who takes one has it for `leaseMs`, so that processes do not visit twice. */
export async function takeDuePeers(
  sql: Sql,
  dids: readonly string[],
  { nowMs, leaseMs }: { nowMs: number; leaseMs: number },
): Promise<PeerRow[]> {
  if (dids.length === 0) return []
  const { rows } = await sql.query<RawPeer>(
    `update mesh_peer set next_visit_at = ${at(3)}, last_tried_at = ${at(2)}
     where did in (select did from mesh_peer where did = any($1) and next_visit_at <= ${at(2)} for update skip locked)
     returning ${columns}`,
    [dids, nowMs, nowMs + leaseMs],
  )
  return rows.map(peerOf)
}
