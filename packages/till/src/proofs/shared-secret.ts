import type { Rng } from '../kernel/random.ts'
import type { Sql } from '../store/database.ts'

/** A secret all processes of one node agree on: the first one to ask makes it. */
export async function loadSharedSecret(sql: Sql, name: string, rng: Rng): Promise<Buffer> {
  await sql.query('insert into shared_secret (name, secret) values ($1, $2) on conflict (name) do nothing', [
    name,
    Buffer.from(rng.bytes(32)),
  ])
  const { rows } = await sql.query<{ secret: Buffer }>('select secret from shared_secret where name = $1', [name])
  const secret = rows[0]?.secret
  if (secret === undefined) throw new Error(`the shared secret ${name} is missing`)
  return secret
}
