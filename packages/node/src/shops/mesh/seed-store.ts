import type { Sql } from '@assay/till/store/database'

/** Nodes that the operator named at the command line. */
export async function readSeeds(sql: Sql): Promise<string[]> {
  const { rows } = await sql.query<{ address: string }>('select address from mesh_seed order by address limit 64')
  return rows.map((row) => row.address)
}

export async function addSeed(sql: Sql, address: string, nowMs: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `insert into mesh_seed (address, added_at) values ($1, to_timestamp($2::float8 / 1000)) on conflict do nothing`,
    [address, nowMs],
  )
  return rowCount === 1
}
