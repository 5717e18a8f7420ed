import { afterAll, expect, test } from 'vitest'
import { ensureAppRole } from './app-role.ts'
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
