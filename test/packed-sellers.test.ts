import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { demoUsdcAddress } from '../packages/till/src/devnet/index.ts'
import { freePort } from '../packages/till/src/store/embedded/free-port.ts'
import { openTestDatabase, type TestDatabase } from '../packages/till/src/store/testing.ts'
import { type TestTill, testTill } from '../packages/till/src/testing/index.ts'
import { faultsInBooks } from './harness/books.ts'
import type { CrashChild } from './harness/control-child.ts'
import { joinExample, joinInProject } from './harness/join-crash-child.ts'
import { type KillPlan, planOf } from './harness/kill-points.ts'
import {
  buyFromDying,
  expectServedOnce,
  sellerEnv,
  spentBy,
  startPacked,
  type TwoSellers,
} from './harness/seller-proofs.ts'
import { stockFetch } from './harness/stock-fetch.ts'
import { installTarballs, link, packAll, root } from './harness/unpacked.ts'
import { runDeaths } from './kill-points/run-deaths.ts'
import { createDice } from './promises/proof.ts'
import { batch, exchange } from './promises/unpaid.ts'

/** `npm run packed-sellers` makes them large. */
const large = process.env['ASSAY_PROOFS'] === 'large'
const effort = large ? { every: 1, copies: 2_000, rounds: 400 } : { every: 24, copies: 40, rounds: 10 }

const run = promisify(execFile)
let folder: string
let seller: string
let program: string
let assay: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-packed-sellers-'))
  const tarballs = await packAll()
  seller = join(folder, 'seller')
  await installTarballs(seller, tarballs, ['protocol', 'till'])
  const frameworks = ['express', 'hono', '@hono/node-server', 'fastify', 'zod', '@modelcontextprotocol/sdk']
  for (const name of [...frameworks, '@x402/fetch', '@x402/evm', 'viem']) link(join(seller, 'node_modules'), name)
  program = await joinInProject(seller)
  const buyer = join(folder, 'buyer')
  await installTarballs(buyer, tarballs, ['protocol', 'sdk', 'conformance', 'cli'])
  assay = join(buyer, 'node_modules/@assay/cli/dist/main.js')
}, 900_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Both the seller that dies and the one that is left are built with the tarballs; chain, buyers and checks are ours. */
describe.each(['express', 'hono'] as const)('a seller on %s, built with the tarballs', (adapter) => {
  let db: TestDatabase
  let own: TestDatabase
  let kit: TestTill
  let left: CrashChild

  const start = (plan?: KillPlan, more: Record<string, string> = {}) =>
    startPacked(program, { ADAPTER: adapter, ...sellerEnv(db, kit), ...more, ...planOf(plan) })

  beforeAll(async () => {
    own = await openTestDatabase()
    db = await openTestDatabase()
    kit = await testTill({ database: own.databaseUrl, publicUrl: 'http://seller.test' })
    left = await start(undefined, { WITH_JOBS: '1' })
  })
  afterAll(async () => {
    await left.stop()
    expect(await faultsInBooks(db.owner)).toEqual([])
    await kit.close()
    await Promise.all([db.close(), own.close()])
  })

  const sellers = (): TwoSellers => ({ kit, owner: db.owner, leftUrl: left.url, start })
  const live = (_worker: number, plan?: KillPlan) => buyFromDying(sellers(), plan)

  test('is paid once and answers, wherever in a sale it is killed', async () => {
    const row = await runDeaths({
      ...{ path: `packed ${adapter}`, every: effort.every, eachCall: false, workers: 3, live, say: () => {} },
      check: async () => expect(await faultsInBooks(db.owner)).toEqual([]),
    })
    expect(row.failures).toEqual([])
    expect(row.deaths).toBeGreaterThanOrEqual(1)
  }, 3_600_000)

  test(
    'serves a payment once, however many copies come to two processes',
    () => expectServedOnce(sellers(), effort.copies),
    600_000,
  )

  test('gives nothing to whatever comes without a payment', async () => {
    const buyer = await kit.buyer(fetch)
    const url = `${left.url}/weather/spent`
    const spent = [await buyer.sign(await fetch(url))]
    expect((await fetch(url, { headers: { 'payment-signature': spent[0] ?? '' } })).status).toBe(200)
    const targets = { host: new URL(left.url).host, paths: ['/weather/spent', '/weather/rome', '/reports'], spent }
    const dice = createDice(7)
    let challenges = 0
    for (let round = 0; round < effort.rounds; round += 1) {
      const text = (await exchange(left.url, batch(targets, dice))).toString('latin1')
      expect(text).not.toContain('"note":"invented"')
      challenges += text.split('HTTP/1.1 402').length - 1
    }
    expect(challenges).toBeGreaterThan(effort.rounds)
  }, 600_000)

  test('sells to the command from the tarball', async () => {
    const buyer = await kit.buyer(fetch)
    const child = await start(undefined, { PORT: String(await freePort()) })
    const bought = await run(
      process.execPath,
      [
        assay,
        'buy',
        `${child.url}/weather/rome`,
        '--network',
        'base',
        '--usdc',
        demoUsdcAddress(8453),
        '--max-amount',
        '0.02',
      ],
      { cwd: folder, env: { ASSAY_KEY: buyer.privateKey } },
    ).catch((error: { stderr: string; stdout: string }) => error)
    expect(bought.stderr).toMatch(/signature verified .* receipt verified/)
    expect(JSON.parse(bought.stdout)).toMatchObject({ city: 'rome' })
    expect(await spentBy(kit, buyer)).toBe(10_000n)
    await child.stop()
  })
})

/** The examples with the tarballs in place of the sources: an unmodified client buys from each. */
describe('an example with the tarballs', () => {
  const adapters = ['node', 'hono', 'express', 'fastify', 'next']
  let db: TestDatabase
  let kit: TestTill
  let sellers: CrashChild
  beforeAll(async () => {
    db = await openTestDatabase()
    kit = await testTill({ database: db.databaseUrl, publicUrl: 'http://seller.test' })
    sellers = await startPacked(program, { ADAPTER: adapters.join(), ...sellerEnv(db, kit) })
  })
  afterAll(async () => {
    await sellers.stop()
    await kit.close()
    await db.close()
  })

  test.each(adapters)('on %s sells to an unmodified @x402/fetch', async (adapter) => {
    const { privateKey } = await kit.buyer(fetch)
    const url = sellers.url.split(' ')[adapters.indexOf(adapter)]
    const answer = await stockFetch(privateKey)(`${url}/weather/rome`)
    expect([answer.status, await answer.json()]).toEqual([200, { city: 'rome', degrees: 28, note: 'invented' }])
  })

  test('that sells tools over MCP sells to the stock client', async () => {
    for (const file of ['buy-mcp.mjs', 'stock-client.mjs'])
      copyFileSync(join(root, 'scripts/examples', file), join(seller, file))
    const { stdout } = await run(process.execPath, ['buy-mcp.mjs', await joinExample(seller, 'mcp')], { cwd: seller })
    expect(stdout).toBe('MCP client: {"city":"rome","degrees":28,"note":"invented"}')
  }, 120_000)
})
