import { afterAll, expect, test } from 'vitest'
import { applyAppAccess, appRole, ensureAppRole } from './app-role.ts'
import { connectClient } from './connection.ts'
import { openTestDatabase, type TestDatabase } from './testing.ts'

const databases: TestDatabase[] = await Promise.all([openTestDatabase(), openTestDatabase()])
afterAll(() => Promise.all(databases.map((database) => database.close())))

test('many starts at once, in one database and in several of a server, do not fail on each other', async () => {
  const clients = await Promise.all(
    Array.from({ length: 12 }, (_, n) => connectClient({ url: databases[n % 2]?.databaseUrl as string })),
  )
  try {
    for (let round = 0; round < 5; round += 1)
      expect(await Promise.all(clients.map((client) => ensureAppRole(client)))).toEqual(clients.map(() => true))
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
})

test('a start puts rights right that are wrong, and writes no others', async () => {
  const client = await connectClient({ url: databases[0]?.databaseUrl as string })
  const ask = async (text: string) => (await client.query<Record<string, string>>(text)).rows
  const written = async () =>
    new Map(
      (
        await ask(`select relname, c.xmin || ' ' || coalesce((select max(a.xmin::text::bigint)::text from pg_attribute a
          where a.attrelid = c.oid), '') as xmin from pg_class c where relnamespace = 'public'::regnamespace
          union all select nspname, xmin::text from pg_namespace where nspname = 'public'`)
      ).map(({ relname, xmin }) => [relname, xmin]),
    )
  try {
    await ensureAppRole(client)
    await applyAppAccess(client)
    const before = await written()
    const [table] = await ask(`select table_name as name from app_access where privileges = 'select, insert' limit 1`)
    const [part] = await ask(`select inhrelid::regclass::text as name from pg_inherits limit 1`)
    const [sequence] = await ask(`select sequencename as name from pg_sequences where schemaname = 'public' limit 1`)
    const wrong = [table?.name, part?.name, sequence?.name, 'keyring']
    await client.query(`grant update (activates_at) on keyring to ${appRole}; grant delete on ${table?.name} to ${appRole}; grant select on ${part?.name} to ${appRole};
      revoke usage on sequence ${sequence?.name} from ${appRole}`)
    await ensureAppRole(client)
    await applyAppAccess(client)
    const [rights] = await client
      .query(
        `select has_table_privilege($1, $2, 'delete') as deletes, has_table_privilege($1, $2, 'insert') as inserts,
           has_table_privilege($1, $3, 'select') as parts, has_sequence_privilege($1, $4, 'usage') as counts,
           has_column_privilege($1, $5, 'activates_at', 'update') as activates,
           has_column_privilege($1, $5, 'retires_at', 'update') as retires`,
        [appRole, ...wrong],
      )
      .then(({ rows }) => rows)
    expect(rights).toEqual({
      deletes: false,
      inserts: true,
      parts: false,
      counts: true,
      activates: false,
      retires: true,
    })
    const after = await written()
    const changed = [...after].filter(([name, xmin]) => before.get(name) !== xmin).map(([name]) => name)
    expect(changed.sort()).toEqual(wrong.sort())
  } finally {
    await client.end()
  }
})
