import type { Sql } from '@assay/till/store/database'

/** A node that the operator named at the command line. */
export async function addSeed(sql: Sql, address: string, nowMs: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `insert into mesh_seed (address, added_at) values ($1, to_timestamp($2::float8 / 1000)) on conflict do nothing`,
    [address, nowMs],
  )
  return rowCount === 1
}
