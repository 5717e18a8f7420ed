import { fork } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTill, type Till } from '../packages/till/src/index.ts'
import { openTestDatabase, type TestDatabase } from '../packages/till/src/store/testing.ts'
import { type TestTill, testTill } from '../packages/till/src/testing/index.ts'
import { faultsInBooks } from './harness/books.ts'
import { type CrashChild, controlChild, counted } from './harness/control-child.ts'
import { startCrashSeller } from './harness/crash-seller.ts'
import { joinCrashChild } from './harness/join-crash-child.ts'
import { createKillPoints, type KillPlan, planOf } from './harness/kill-points.ts'
import { buyFromDying, expectServedOnce, type TwoSellers } from './harness/seller-proofs.ts'
import { type Seller, startSeller } from './harness/sellers.ts'
import { runDeaths } from './kill-points/run-deaths.ts'
import { createDice } from './promises/proof.ts'
import { batch, exchange } from './promises/unpaid.ts'

const adapters = ['express', 'hono'] as const
type Adapter = (typeof adapters)[number]

/** What the sellers share: a database and a chain. Each has a till in this process. */
let db: TestDatabase
let kit: TestTill
const left = new Map<Adapter, Seller & { till: Till }>()
let prepared = 0

beforeAll(async () => {
  db = await openTestDatabase()
  kit = await testTill({ database: db.databaseUrl, publicUrl: 'http://seller.test' })
  for (const adapter of adapters) {
    // The till of the kit declares no route: it is a process on the same database that sells other things.
    const till = await createTill(kit.options)
    const seller = await startSeller(adapter, till, async (city) => {
      prepared += 1
      return { city, degrees: 1, note: 'only for those who pay' }
    })
    left.set(adapter, { ...seller, till })
  }
})
afterAll(async () => {
  expect(await faultsInBooks(db.owner)).toEqual([])
  for (const { close, till } of left.values()) {
    await close()
    await till.close()
  }
  await kit.close()
  await db.close()
})

const startChild = async (on: readonly Adapter[], plan?: KillPlan) =>
  controlChild(
    fork(await joinCrashChild('seller-child-main'), {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: {
        PATH: process.env['PATH'],
        ADAPTER: on.join(','),
        DATABASE_URL: db.databaseUrl,
        RPC_URL: kit.chain.url,
        ...planOf(plan),
      },
    }),
  )

async function countCalls(adapter: Adapter): Promise<CrashChild> {
  const points = createKillPoints(undefined)
  const { url, close } = await startCrashSeller(points, {
    adapter,
    databaseUrl: db.databaseUrl,
    rpcUrl: kit.chain.url,
  })
  return counted(url, points, close)
}

/** The proofs of the node for sellers that others build with the till: what dies, what comes twice, what is not paid. */
describe.each(adapters)('a seller on %s', (adapter) => {
  const leftUrl = () => left.get(adapter)?.url ?? ''
  const sellers = (): TwoSellers => ({
    ...{ kit, owner: db.owner, leftUrl: leftUrl() },
    start: (plan) => startChild([adapter], plan),
    count: () => countCalls(adapter),
  })
  let calls: readonly string[] = []
  const live = async (_worker: number, plan?: KillPlan) => {
    const life = await buyFromDying(sellers(), plan)
    if (plan === undefined) calls = life.calls
    return life
  }

  test('that is killed at any step of a sale is paid once and answers', async () => {
    const row = await runDeaths({
      ...{ path: `sale on ${adapter}`, every: 12, eachCall: false, workers: 1, live, say: () => {} },
      check: async () => expect(await faultsInBooks(db.owner)).toEqual([]),
    })
    expect(row.failures).toEqual([])
    expect(row.deaths).toBeGreaterThanOrEqual(1)
    if (adapter !== adapters[0]) return
    // With the money and without the answer: only a process that knows the route can finish the sale.
    const settled = calls.indexOf('facilitator settle') + 1
    expect(settled).toBeGreaterThan(0)
    expect(await live(0, { at: settled, when: 'after' })).toMatchObject({ died: true })
  }, 600_000)

  test('gives nothing to whatever comes without a payment', async () => {
    const buyer = await kit.buyer(fetch)
    const spent: string[] = []
    for (const name of ['a', 'b']) {
      const url = `${leftUrl()}/weather/spent-${name}`
      const payment = await buyer.sign(await fetch(url))
      expect((await fetch(url, { headers: { 'payment-signature': payment } })).status).toBe(200)
      spent.push(payment)
    }
    const before = prepared
    const targets = {
      host: new URL(leftUrl()).host,
      paths: ['/weather/spent-a', '/weather/spent-b', '/weather/rome', '/reports'],
      spent,
    }
    const dice = createDice(7)
    let challenges = 0
    for (let round = 0; round < 15; round += 1) {
      const text = (await exchange(leftUrl(), batch(targets, dice))).toString('latin1')
      expect(text).not.toContain('only for those who pay')
      challenges += text.split('HTTP/1.1 402').length - 1
    }
    expect(challenges).toBeGreaterThan(15)
    expect(prepared).toBe(before)
  }, 300_000)
})

test('sellers serve a payment once that comes 40 times at two processes', async () => {
  const other = await startChild(adapters)
  const urls = other.url.split(' ')
  for (const [place, adapter] of adapters.entries()) {
    const beside = { ...other, url: urls[place] ?? '', stop: async () => {} }
    await expectServedOnce(
      { kit, owner: db.owner, leftUrl: left.get(adapter)?.url ?? '', start: async () => beside },
      40,
    )
  }
  await other.stop()
}, 300_000)
