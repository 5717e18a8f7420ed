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
  taken: readonly PeerRow[]
  /** Some peer's prices were not checked for long enough. */
  prices: boolean
  /** Some peer is to be deleted. */
  old: boolean
}

export type DueTimes = { nowMs: number; leaseMs: number; pricesBeforeMs: number; expireBeforeMs: number; room: Room }

/** Visits that may begin. */
export type Room = { shown: number; others: number }

/**
 * In one statement: mostly there is little to do. Anyone who takes a peer whose visit is due has it for `leaseMs`, so that
 * processes do not visit twice.
 */
export async function findDue(
  sql: Sql,
  seeds: readonly string[],
  { nowMs, leaseMs, pricesBeforeMs, expireBeforeMs, room }: DueTimes,
): Promise<Due> {
  const { rows } = await sql.query<Omit<Due, 'live' | 'taken'> & { live: bigint } & (RawPeer | { did: null })>(
    `with due as (
       select array(select did from mesh_peer where next_visit_at <= ${at(1)} and state in ('alive', 'suspect')
                    order by next_visit_at limit $3)
         || array(select did from (select did, found_by, failures, served_at, row_number() over (
                                     partition by named_by order by failures, next_visit_at) as turn
                                   from (select *, coalesce(max(last_tried_at) over (partition by named_by), 'epoch') as served_at
                                         from mesh_peer where state in ('candidate', 'dead')) as without_place
                                   where next_visit_at <= ${at(1)} and not (${isOld(4)})) as waiting
                  order by found_by <> 'seed', turn, served_at, failures limit $6) as dids),
     taken as (
       update mesh_peer set next_visit_at = ${at(7)}, last_tried_at = ${at(1)}
       where did in (select did from mesh_peer where did = any((select dids from due)::text[]) and next_visit_at <= ${at(1)}
                     for update skip locked)
       returning ${columns})
     select exists (select from mesh_peer) as anybody,
       (select count(*) from mesh_peer where state in ('alive', 'suspect')) as live,
       exists (select from mesh_peer where state = 'alive' and coalesce(prices_checked_at, 'epoch') <= ${at(2)}) as prices,
       exists (select from mesh_peer where ${isOld(4)}) as old,
       array(select address from (select unnest($5::text[]) as address
                                  union (select address from mesh_seed order by address limit 64)) as named
             where not exists (select from mesh_peer p where p.address = named.address)) as seeds, taken.*
     from (select) as always left join taken on true`,
    [nowMs, pricesBeforeMs, room.shown, expireBeforeMs, seeds, room.others, nowMs + leaseMs],
  )
  const [due] = rows
  if (due === undefined) throw new Error('the database answered without a row')
  const { seeds: missing, anybody, live, prices, old } = due
  const taken = rows.flatMap((row) => (row.did === null ? [] : [peerOf(row)]))
  return { seeds: missing, anybody, live: Number(live), taken, prices, old }
}
