import { expect, test } from 'vitest'
import { expectSoundBooks, paymentRows } from './harness/invariants.ts'
import { echoPath, openTill, quote, send, signPayment } from './harness/till-fixture.ts'

test('a batch of claims that is refused after some were written serves all of its buyers, once each', async () => {
  let broken = 0
  let first = true
  let arrived = () => {}
  const batchArrived = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const till = await openTill({
    ownShops: 'till',
    intercept: {
      database: (database) => ({
        ...database,
        query: async (statement, values) => {
          const claims =
            typeof statement === 'string' || statement.name !== 'payment-claim' ? undefined : statement.values
          const isBatch = ((claims?.[0] ?? []) as unknown[]).length > 1
          if (isBatch) arrived()
          // The first one waits: what arrives meanwhile shares a statement, however slow the machine is.
          if (claims && first) {
            first = false
            await batchArrived
          }
          const result = await database.query(statement, values)
          if (!isBatch || broken > 0) return result as never
          broken += 1
          // What a later statement of the same run may meet: the server's own refusal, not a lost connection.
          throw Object.assign(new Error('canceling statement due to lock timeout'), {
            code: '55P03',
            severity: 'ERROR',
          })
        },
      }),
    },
  })
  try {
    const url = `${till.node.url}${echoPath}`
    const buyers = await Promise.all(Array.from({ length: 12 }, () => till.newBuyer()))
    const payloads = await Promise.all(buyers.map(async (buyer) => signPayment(buyer, await quote(url))))
    const statuses = await Promise.all(payloads.map(async (payload) => (await send(url, payload)).status))
    expect(broken).toBe(1)
    expect(statuses).toEqual(buyers.map(() => 200))
    expect((await paymentRows(till)).map((row) => row.state)).toEqual(buyers.map(() => 'served'))
    await expectSoundBooks(till)
  } finally {
    await till.close()
  }
})
