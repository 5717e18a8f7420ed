import type { Rng } from '../kernel/random.ts'
import type { Database, Sql } from '../store/database.ts'

export type TokenSecret = { version: number; secret: Buffer }

const columns = 'version, secret'

/** The secret that makes new tokens; the first one to ask makes it. */
export async function tokenSecretInForce(sql: Sql, rng: Rng): Promise<TokenSecret> {
  const text = `select ${columns} from token_secret where revoked_at is null`
  const found = await sql.query<TokenSecret>({ name: 'token_secret_in_force', text })
  if (found.rows[0]) return found.rows[0]
  await sql.query(
    `insert into token_secret (version, secret) select coalesce(max(version), 0) + 1, $1::bytea from token_secret on conflict do nothing`,
    [Buffer.from(rng.bytes(32))],
  )
  const { rows } = await sql.query<TokenSecret>({ name: 'token_secret_in_force', text })
  if (rows[0] === undefined) throw new Error('there is no secret to make tokens with')
  return rows[0]
}

/** Undefined once it was revoked. */
export async function tokenSecretOf(sql: Sql, version: number): Promise<TokenSecret | undefined> {
  const { rows } = await sql.query<TokenSecret>(
    `select ${columns} from token_secret where version = $1 and secret is not null`,
    [version],
  )
  return rows[0]
}

/** Whether a stored token, whose row names the version in this column, may still open anything. */
export const tokenInForce = (column: string): string =>
  `exists (select from token_secret t where t.version = ${column} and t.revoked_at is null)`

/** Ends every token there is; what is made from now on is made with another secret. */
export async function revokeTokens(database: Database, rng: Rng, nowMs: number): Promise<{ version: number }> {
  return database.transaction(async (tx) => {
    // Two that revoke at once end with one secret in force, not with none.
    await tx.query('lock table token_secret in share row exclusive mode')
    await tx.query('update token_secret set revoked_at = $1, secret = null where revoked_at is null', [new Date(nowMs)])
    const { version } = await tokenSecretInForce(tx, rng)
    return { version }
  })
}
