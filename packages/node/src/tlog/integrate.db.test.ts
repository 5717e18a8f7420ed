import { systemClock } from '@assay/till/kernel/clock'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import { createFixedKeyring, generateSigningKey } from '@assay/till/signing'
import type { Database } from '@assay/till/store/database'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { createIntegrator } from './integrate.ts'
import { appendToLog, findPlace, logOrigin } from './store.ts'

const db = await useTestDatabase()

test('calls that come before a batch has read what waits share it; a later one finds its entry placed all the same', async () => {
  const { database } = db
  const origin = await logOrigin(database, 'test.example/log')
  const write = (subject: string) => appendToLog(database, [{ kind: 'test', subject, entry: Buffer.from(subject) }])
  const placed: string[][] = []
  let transactions = 0
  let meanwhile: (() => Promise<void>) | undefined
  const counting: Database = {
    ...database,
    transaction: (work) => {
      transactions += 1
      return database.transaction(async (tx) => {
        const query: typeof tx.query = async (statement, values) => {
          const read = await tx.query(statement, values)
          const wake = meanwhile
          if (typeof statement !== 'string' && statement.name === 'log_waiting') {
            meanwhile = undefined
            await wake?.()
          }
          return read as never
        }
        return work({ ...tx, query })
      })
    },
  }
  const integrate = createIntegrator(
    {
      database: counting,
      clock: systemClock,
      metrics: silentMetrics,
      keyring: createFixedKeyring(generateSigningKey(systemRng), 0),
      origin,
    },
    ({ leaves }) => placed.push(leaves.map(({ subject }) => subject)),
  )
  await write('a')
  await write('b')
  let late: Promise<void> | undefined
  meanwhile = async () => {
    await write('c')
    late = integrate()
  }
  await Promise.all([integrate(), integrate(), integrate()])
  expect(placed).toEqual([['a', 'b']])
  await late
  expect([placed, transactions]).toEqual([[['a', 'b'], ['c']], 2])
  expect(await findPlace(database, 'c')).toMatchObject({ leafIndex: 2 })
})

test('a batch that fails does not keep the next one from being placed', async () => {
  const { database } = db
  let away = true
  const failing: Database = {
    ...database,
    transaction: (work) => (away ? Promise.reject(new Error('the database is away')) : database.transaction(work)),
  }
  const keyring = createFixedKeyring(generateSigningKey(systemRng), 0)
  const deps = { database: failing, clock: systemClock, metrics: silentMetrics, keyring, origin: 'test.example/log' }
  const integrate = createIntegrator(deps)
  await appendToLog(database, [{ kind: 'test', subject: 'd', entry: Buffer.from('d') }])
  await expect(integrate()).rejects.toThrow('the database is away')
  away = false
  await integrate()
  expect(await findPlace(database, 'd')).toBeDefined()
})
