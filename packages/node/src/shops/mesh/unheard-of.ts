import type { Sql } from '@assay/till/store/database'

/** Of the names that a peer gave, those that `recordCandidate` has something to do for; mostly none, in one statement. */
export async function unheardOf<T extends { did: string; sequence: number }>(
  sql: Sql,
  named: readonly T[],
): Promise<T[]> {
  const { rows } = await sql.query<{ place: bigint }>(
    `select n.place from unnest($1::text[], $2::bigint[]) with ordinality as n (did, sequence, place)
     left join mesh_peer p on p.did = n.did
     where p.did is null or (p.state = 'dead' and n.sequence > p.sequence) order by n.place`,
    [named.map(({ did }) => did), named.map(({ sequence }) => sequence)],
  )
  return rows.flatMap(({ place }) => named[Number(place) - 1] ?? [])
}
