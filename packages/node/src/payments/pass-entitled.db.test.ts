import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { systemRng } from '../kernel/random.ts'
import type { Database } from '../store/database.ts'
import { CommitUnknown } from '../store/errors.ts'
import { openTestDatabase, type TestDatabase } from '../store/testing.ts'
import { type Asked, openCreditDesk, randomWallet } from './credit.fixture.ts'
import type { GateDeps } from './gate-deps.ts'
import type { EntitlementPort, PaidRoute } from './paid-call.ts'
import { createEntitledSales, passEntitled } from './pass-entitled.ts'

let db: TestDatabase
let desk: ReturnType<typeof openCreditDesk>
beforeAll(async () => {
  db = await openTestDatabase()
  desk = openCreditDesk(db)
})
afterAll(() => db.close())

/** A database whose connection is lost with the commit: it is carried out, or it is not. */
const losing = (commits: boolean): Database => ({
  ...db.database,
  transaction: async (work) => {
    const lost = new CommitUnknown(new Error('reset'))
    await db.database.transaction(async (tx) => {
      await work(tx)
      if (!commits) throw lost
    })
    throw lost
  },
})

async function ask(database: Database, asked: Asked) {
  const deps = {
    database,
    clock: { ...systemClock, sleep: pause },
    ids: createIds(systemClock, systemRng),
    limits: { prepareMs: 15_000 },
    metrics: { count: () => {} },
    log: { warn: () => {}, error: () => {} },
    saleHooks: [],
  } as unknown as GateDeps
  const call = desk.callOf(asked)
  const port: EntitlementPort = { ...desk.port, hold: () => desk.hold(asked) }
  return passEntitled(deps, createEntitledSales(deps), call, [port])
}

/** The watch over preparing never rings; pauses between looks are over at once. */
const pause = (ms: number): Promise<void> => (ms >= 15_000 ? new Promise(() => {}) : Promise.resolve())

const withEffect: Partial<PaidRoute> = {
  commit: async () => ({ status: 200, contentType: 'application/json', body: '{"made":true}' }),
}

test('an unnamed call whose capture was committed unseen gets the answer that it paid for', async () => {
  const wallet = randomWallet()
  await desk.topUp(wallet, 1_000n)
  const plain = await ask(losing(true), { by: wallet, micro: 300n })
  expect(plain).toMatchObject({ kind: 'served', answer: { body: '{}' } })
  const made = await ask(losing(true), { by: wallet, micro: 300n, route: withEffect })
  expect(made).toMatchObject({ kind: 'served', answer: { body: '{"made":true}' } })
  expect([await desk.balance(wallet), await desk.heldMicro(wallet)]).toEqual([400n, 0n])
})

test('an unnamed call whose capture was lost with its commit gets its money back', async () => {
  const wallet = randomWallet()
  await desk.topUp(wallet, 1_000n)
  for (const route of [{}, withEffect])
    expect(await ask(losing(false), { by: wallet, micro: 300n, route })).toMatchObject({ kind: 'refused' })
  expect([await desk.balance(wallet), await desk.heldMicro(wallet)]).toEqual([1_000n, 0n])
})
