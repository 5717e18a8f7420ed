import { expect, test } from 'vitest'
import { connectClient } from './connection.ts'
import { setOperatorAccess } from './operator-access.ts'
import { useTestDatabase } from './use-database.fixture.ts'

const db = await useTestDatabase()
const login = `person_${new URL(db.databaseUrl).pathname.slice(1)}`

test('a login reads, operates or withdraws, and keeps nothing of what it could before', async () => {
  const client = await connectClient({ url: db.databaseUrl }, {}, 5_000)
  try {
    expect(await setOperatorAccess(client, login, 'read')).toBe('no_such_login')
    await client.query(`create role ${login} login`)
    const may = async (table: string) => {
      const { rows } = await client.query<{ read: boolean; change: boolean }>(
        `select has_table_privilege($1, $2, 'select') as read, has_table_privilege($1, $2, 'update') as change`,
        [login, table],
      )
      return rows[0]
    }
    const [nothing, reads, changes] = [
      { read: false, change: false },
      { read: true, change: false },
      { read: true, change: true },
    ]
    const expected = {
      none: [nothing, nothing, nothing, nothing],
      read: [reads, reads, nothing, nothing],
      operate: [changes, reads, nothing, nothing],
      withdraw: [changes, changes, reads, changes],
    }
    for (const access of ['read', 'withdraw', 'operate', 'none'] as const) {
      expect(await setOperatorAccess(client, login, access)).toBe('set')
      const seen = await Promise.all(['pause', 'payout', 'shared_secret', 'payment_answer'].map(may))
      expect({ access, seen }).toEqual({ access, seen: expected[access] })
    }
    const { rows } = await client.query<{ name: string }>('select current_user as name')
    expect(await setOperatorAccess(client, rows[0]?.name ?? '', 'read')).toBe('node_login')
  } finally {
    await client.query(`drop owned by ${login}; drop role ${login}`).catch(() => {})
    await client.end()
  }
})

test('an owner of the database that is no superuser sets access, too', async () => {
  const client = await connectClient({ url: db.databaseUrl }, {}, 5_000)
  const [owner, person] = [`owner_${login}`, `other_${login}`]
  try {
    await client.query(`create role ${owner}; create role ${person} login; grant assay_app to ${owner}`)
    await client.query(`do $$ declare t regclass; begin
      for t in select oid from pg_class c where relnamespace = 'public'::regnamespace and (relkind in ('r', 'p', 'v') or
        relkind = 'S' and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('a', 'i'))) loop
        execute format('alter table %s owner to ${owner}', t);
      end loop; end $$`)
    await client.query(`set role ${owner}`)
    for (const access of ['read', 'operate', 'none'] as const)
      expect(await setOperatorAccess(client, person, access)).toBe('set')
    await client.query(`reset role; grant assay_app to ${owner} with admin option; set role ${owner}`)
    for (const access of ['withdraw', 'none'] as const)
      expect(await setOperatorAccess(client, person, access)).toBe('set')
  } finally {
    await client.query('reset role')
    await client.query(`reassign owned by ${owner} to current_user; drop owned by ${person}; drop owned by ${owner}`)
    await client.query(`drop role ${person}; drop role ${owner}`)
    await client.end()
  }
})
