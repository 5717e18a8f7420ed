import type pg from 'pg'
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
