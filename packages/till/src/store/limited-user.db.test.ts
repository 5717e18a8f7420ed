import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { systemRng } from '../kernel/random.ts'
import { openStore } from './open-store.ts'
import { openTestDatabase } from './testing.ts'

test('a database user who may not have the application role gets a working store that says so', async () => {
  const db = await openTestDatabase()
  const name = `limited_${Buffer.from(systemRng.bytes(6)).toString('hex')}`
  try {
    await db.owner.query(`create role ${name} login password 'limited'`)
    await db.owner.query(`create database ${name} owner ${name}`)
    const url = new URL(db.databaseUrl)
    Object.assign(url, { username: name, password: 'limited', pathname: `/${name}` })
    const options = { home: '/nonexistent', databaseUrl: url.href, clock: systemClock, log: silentLog, rng: systemRng }
    const store = await openStore(options)
    expect(store.restricted).toBe(false)
    expect(store.problems.join('\n')).toMatch(/may not create the role/)
    // The server of the tests does not sync, which production must hear of too.
    expect(store.problems.join('\n')).toMatch(/fsync is off/)
    await store.database.query('select from ledger_entry')
    await expect(store.database.query('delete from ledger_entry')).rejects.toThrow(/never changed/)
    await store.stop()
    await (await openStore(options)).stop()
  } finally {
    await db.owner.query(`drop database if exists ${name} with (force)`)
    await db.owner.query(`drop role if exists ${name}`)
    await db.close()
  }
})
