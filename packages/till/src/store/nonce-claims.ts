import type { Sql } from './database.ts'

export type NonceClaim = { scope: string; key: string; expiresAtMs: number }

/** True for the first caller only, whichever process it is in, decided by one statement. */
export async function claimNonce(sql: Sql, claim: NonceClaim): Promise<boolean> {
  const { rowCount } = await sql.query({
    name: 'claim_nonce',
    text: 'insert into nonce_claim (scope, key, expires_at) values ($1, $2, to_timestamp($3::float8 / 1000)) on conflict do nothing',
    values: [claim.scope, claim.key, claim.expiresAtMs],
  })
  return rowCount === 1
}

/** Clocks of processes differ a little: a claim outlives what it protects by this much. */
const graceMs = 5 * 60_000
const rowsPerPurge = 5_000

/** Removes claims whose nonce nobody accepts any more; returns how many. */
export async function purgeNonces(sql: Sql, nowMs: number): Promise<number> {
  let total = 0
  for (;;) {
    const { rowCount } = await sql.query(
      `delete from nonce_claim where (scope, key) in (
         select scope, key from nonce_claim where expires_at < to_timestamp($1::float8 / 1000)
         order by expires_at limit $2)`,
      [nowMs - graceMs, rowsPerPurge],
    )
    total += rowCount
    if (rowCount < rowsPerPurge) return total
  }
}
