import { fork } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../packages/till/src/store/testing.ts'
import { type TestTill, testTill } from '../packages/till/src/testing/index.ts'
import { faultsInBooks } from './harness/books.ts'
import { controlChild, planOf } from './harness/crash-child.ts'
import { joinCrashChild } from './harness/join-crash-child.ts'
import type { KillPlan } from './harness/kill-points.ts'
import { buyFromDying, expectServedOnce, type TwoSellers } from './harness/seller-proofs.ts'
import { type Seller, startSeller } from './harness/sellers.ts'
import { runDeaths } from './kill-points/run-deaths.ts'
import { createDice } from './promises/proof.ts'
import { batch, exchange } from './promises/unpaid.ts'

/** The proofs of the node for sellers that others build with the till: what dies, what comes twice, what is not paid. */
describe.each(['express', 'hono'] as const)('a seller on %s', (adapter) => {
  let db: TestDatabase
  let kit: TestTill
  let seller: Seller
  let prepared = 0

  beforeAll(async () => {
    db = await openTestDatabase()
    kit = await testTill({ database: db.databaseUrl, publicUrl: 'http://seller.test' })
    seller = await startSeller(adapter, kit.till, async (city) => {
      prepared += 1
      return { city, degrees: 1, note: 'only for those who pay' }
    })
  })
  afterAll(async () => {
    expect(await faultsInBooks(db.owner)).toEqual([])
    await seller.close()
    await kit.close()
    await db.close()
  })

  const startChild = async (plan?: KillPlan) =>
    controlChild(
      fork(await joinCrashChild('seller-child-main'), {
        execArgv: [],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        env: {
          PATH: process.env['PATH'],
          ADAPTER: adapter,
          DATABASE_URL: db.databaseUrl,
          RPC_URL: kit.chain.url,
          ...planOf(plan),
        },
      }),
    )

  const sellers = (): TwoSellers => ({ kit, owner: db.owner, leftUrl: seller.url, start: startChild })
  const live = (_worker: number, plan?: KillPlan) => buyFromDying(sellers(), plan)

  test('that is killed at any step of a sale is paid once and answers', async () => {
    const row = await runDeaths({
      ...{ path: `sale on ${adapter}`, every: 12, eachCall: false, workers: 1, live, say: () => {} },
      check: async () => expect(await faultsInBooks(db.owner)).toEqual([]),
    })
    expect(row.failures).toEqual([])
    expect(row.deaths).toBeGreaterThanOrEqual(1)
  }, 600_000)

  test('serves a payment once that comes 40 times at two processes', () => expectServedOnce(sellers(), 40), 300_000)

  test('gives nothing to whatever comes without a payment', async () => {
    const buyer = await kit.buyer(fetch)
    const spent: string[] = []
    for (const name of ['a', 'b']) {
      const url = `${seller.url}/weather/spent-${name}`
      const payment = await buyer.sign(await fetch(url))
      expect((await fetch(url, { headers: { 'payment-signature': payment } })).status).toBe(200)
      spent.push(payment)
    }
    const before = prepared
    const targets = {
      host: new URL(seller.url).host,
      paths: ['/weather/spent-a', '/weather/spent-b', '/weather/rome', '/reports'],
      spent,
    }
    const dice = createDice(7)
    let challenges = 0
    for (let round = 0; round < 15; round += 1) {
      const text = (await exchange(seller.url, batch(targets, dice))).toString('latin1')
      expect(text).not.toContain('only for those who pay')
      challenges += text.split('HTTP/1.1 402').length - 1
    }
    expect(challenges).toBeGreaterThan(15)
    expect(prepared).toBe(before)
  }, 300_000)
})
