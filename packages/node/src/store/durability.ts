import type pg from 'pg'

/** Settings under which an acknowledged payment could vanish with a power cut. */
export async function durabilityProblems(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string; setting: string }>(
    `select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')`,
  )
  return rows
    .filter(({ setting }) => setting === 'off')
    .map(({ name }) => `${name} is off on the database server: acknowledged payments could be lost in a crash`)
}
