import type { NodeAddress } from '@assay/protocol/mesh/node-address'
import type { Sql } from '@assay/till/store/database'
import { at, type PeerRow } from './store.ts'

export type Named = NodeAddress & { sequence: number }

export type Naming = {
  foundBy: PeerRow['foundBy']
  /** The peer that gave the names, or the address of a listing. */
  namedBy?: string
  nowMs: number
  retryMs: number
  candidatesMax: number
  perNamerMax: number
}

/**
 * Notes addresses that are worth a visit, of those not known already as many as one namer has room for; where all have too
 * many together, those with the most give way. A dead one is only tried at once when it is said to have spoken since, and
 * not more often than `retryMs`: listing the dead again and again gains nothing. Returns how many were noted.
 */
export async function recordCandidates(sql: Sql, named: readonly Named[], naming: Naming): Promise<number> {
  if (named.length === 0) return 0
  const { foundBy, namedBy = '', nowMs, retryMs, candidatesMax, perNamerMax } = naming
  const { rowCount } = await sql.query(
    `with named as (
       select * from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as n (did, address, sequence, place)),
     fresh as (
       select did, address from named n
       where not exists (select from mesh_peer p where p.did = n.did or p.address = n.address) order by place
       limit case when $4::text = 'seed' then null else greatest(0,
         greatest(1, $7 - coalesce((select false_names from mesh_peer where did = $8::text), 0))
           - (select count(*) from mesh_peer where state = 'candidate' and named_by = $8::text)) end),
     added as (
       insert into mesh_peer (did, address, state, found_by, found_at, next_visit_at, named_by)
       select did, address, 'candidate', $4::text, ${at(5)}, ${at(5)}, $8::text from fresh on conflict do nothing returning did),
     again as (
       update mesh_peer p set next_visit_at = least(p.next_visit_at, ${at(5)}) from named n
       where p.did = n.did and p.state = 'dead' and n.sequence > p.sequence
         and coalesce(p.last_tried_at, 'epoch') < ${at(6)} returning p.did)
     select from added union all select from again`,
    [
      ...[named.map(({ did }) => did), named.map(({ origin }) => origin), named.map(({ sequence }) => sequence)],
      ...[foundBy, nowMs, nowMs - retryMs, perNamerMax, namedBy],
    ],
  )
  const noted = rowCount ?? 0
  if (noted === 0 || foundBy === 'seed') return noted
  const { rowCount: gaveWay } = await sql.query(
    `delete from mesh_peer where did in (
       select did from (select did, named_by, row_number() over (partition by named_by order by failures, found_at, did) as turn
                        from mesh_peer where state = 'candidate' and found_by <> 'seed') as waiting
       order by turn, named_by offset $1)`,
    [candidatesMax],
  )
  return Math.max(0, noted - (gaveWay ?? 0))
}

const deadMax = 1_024
const falseNamesMax = 64

/** Candidates that never answered, the long dead and all too many dead; seeds stay: the operator wants them. */
export const isOld = (place: number) => `found_by <> 'seed' and ((state = 'candidate' and failures >= 3)
  or (state = 'dead' and (coalesce(last_seen_at, found_at) < ${at(place)}
    or did in (select did from mesh_peer where state = 'dead' order by last_seen_at desc nulls last offset ${deadMax}))))`

export async function deletePeers(sql: Sql, expireBeforeMs: number): Promise<void> {
  await sql.query(
    `with gone as (
       delete from mesh_peer where ${isOld(1)}
       returning named_by, state),
     never as (select named_by, count(*)::integer as names from gone where state = 'candidate' group by named_by)
     update mesh_peer p set false_names = least(p.false_names + never.names, ${falseNamesMax})
     from never where p.did = never.named_by`,
    [expireBeforeMs],
  )
}
