import type pg from 'pg'
import type { Sql } from './database.ts'
import { StoreError } from './errors.ts'

/** Settings under which an acknowledged payment could vanish with a power cut. */
export async function durabilityProblems(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string; setting: string }>(
    `select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')`,
  )
  return rows
    .filter(({ setting }) => setting === 'off')
    .map(({ name }) => `${name} is off on the database server: acknowledged payments could be lost in a crash`)
}

const oldestMajor = 14

export async function refuseOldServer(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
  const major = Math.floor(Number(rows[0]?.server_version_num) / 10_000)
  if (!(major >= oldestMajor)) {
    throw new StoreError(`PostgreSQL ${oldestMajor} or newer is needed, the server is version ${major}`)
  }
}

type PooledSession = { login: string; writes: boolean; statement: string; lock: string; idle: string; zone: string }

/** A pooler gives its sessions no role and no limits of ours: its login must have them. */
export async function checkPooledSession(sql: Sql): Promise<{ restricted: boolean; problems: string[] }> {
  const { rows } = await sql.query<PooledSession>(
    `select current_user as login, has_table_privilege('ledger_entry', 'update, delete, truncate') as writes,
       current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
       current_setting('idle_in_transaction_session_timeout') as idle, current_setting('TimeZone') as zone`,
  )
  const session = rows[0]
  if (!session) throw new StoreError('the pooled session could not be checked')
  const problems = [
    ['statement_timeout', session.statement],
    ['lock_timeout', session.lock],
    ['idle_in_transaction_session_timeout', session.idle],
  ]
    .filter(([, value]) => value === '0')
    .map(([name]) => `${name} is not set for ${session.login}, the login of the pooler: ALTER ROLE … SET ${name} = …`)
  if (!/^(Etc\/)?(UTC|GMT|Universal)$/.test(session.zone))
    problems.push(`TimeZone is ${session.zone} for ${session.login}: ALTER ROLE … SET TimeZone = 'UTC'`)
  if (session.writes)
    problems.push(
      `${session.login}, the login of the pooler, may change the books: give it the rights of assay_app only`,
    )
  return { restricted: !session.writes, problems }
}
