import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import type { RunningNode } from '../packages/node/src/node.ts'
import { shopList, shopNames } from '../packages/node/src/shop-list.ts'
import type { Log } from '../packages/till/src/kernel/log.ts'
import { connectClient } from '../packages/till/src/store/connection.ts'
import { openEmptyDatabase } from './harness/empty-database.ts'
import { earlierClient } from './harness/mcp-clients.ts'
import { buy, echoPath, type FixtureOptions } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'
import { maker, toyProblems, toyShop } from './toys/shop.ts'

const till = useTill({ ownShops: 'till' })

const folder = fileURLToPath(new URL('../packages/node/src/shops', import.meta.url))

test('every folder of a shop has its one line in shop-list.ts', () => {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(folders.map(({ name }) => name).filter((name) => !shopNames.includes(name))).toEqual([])
})

/** A node on its own database, which has the tables that this node made and no others. */
async function onEmptyDatabase(
  options: FixtureOptions,
  work: (
    node: RunningNode,
    query: (text: string, values?: unknown[]) => Promise<unknown[]>,
    operator: (...args: string[]) => Promise<{ code: number; out: string }>,
  ) => Promise<void>,
): Promise<void> {
  const database = await openEmptyDatabase(till.db.databaseUrl)
  const node = await till.startAnother({ ...options, databaseUrl: database.url })
  const client = await connectClient({ url: database.url })
  const endpoints = { BASE_RPC_URLS: till.base.url, POLYGON_RPC_URLS: till.polygon.url }
  const operator = async (...args: string[]) => {
    const terminal = createTestTerminal({ env: { DATABASE_URL: database.url, ...endpoints } })
    return { code: await runCli(args, terminal), out: terminal.stdout() }
  }
  try {
    await work(node, async (text, values) => (await client.query(text, values)).rows, operator)
  } finally {
    await client.end()
    await node.stop()
    await database.close()
  }
}

const ownersIn = async (query: (text: string) => Promise<unknown[]>) =>
  ((await query('select distinct owner from schema_migration order by owner')) as { owner: string }[]).map(
    ({ owner }) => owner,
  )

/** Whose tables are made without some shops: those of every node, and of shops that others read. */
const ownersWithout = (missing: readonly string[]) => [
  ...new Set([
    'till',
    'tlog',
    'console',
    ...shopList
      .filter((shop) => !missing.includes(shop.name))
      .flatMap(({ migrations }) => migrations.map(({ pathname }) => pathname.split('/').at(-3) ?? '')),
  ]),
]

const removable = shopNames.filter((name) => name !== 'sandbox')

/** Six nodes, each shop missing in three of them and no two in the same three: whichever needs another is once without it. */
const threeOfSix = Array.from({ length: 64 }, (_, bits) => bits).filter(
  (bits) => [0, 1, 2, 3, 4, 5].filter((node) => bits & (1 << node)).length === 3,
)
const nodes = [0, 1, 2, 3, 4, 5].map((node) => removable.filter((_, index) => (threeOfSix[index] ?? 0) & (1 << node)))

test('each shop is once there while each other is missing', () => {
  const pairs = removable.flatMap((missing) => removable.map((there) => [missing, there] as const))
  const untried = pairs.filter(
    ([missing, there]) => missing !== there && !nodes.some((one) => one.includes(missing) && !one.includes(there)),
  )
  expect(untried).toEqual([])
})

test.each(nodes.map((missing) => [missing.join(', '), missing] as const))(
  'a node without %s makes no tables of them, starts, is ready, does its jobs and sells',
  async (names, missing) => {
    const list = shopList.filter((shop) => !missing.includes(shop.name))
    const log = missingTables()
    await onEmptyDatabase({ list, ownShops: 'all', jobs: true, log }, async (node, query) => {
      expect((await fetch(`${node.address}/readyz`)).status).toBe(200)
      expect((await fetch(`${node.address}/openapi.json`)).status).toBe(200)
      const response = await buy(await till.newBuyer(), `${node.address}${echoPath}?message=${names.length}`)
      expect(response.status, await response.text()).toBe(200)
      expect(await ownersIn(query)).toEqual(ownersWithout(missing).sort())
      // Asks all shops that know something of a wallet.
      const agent = await fetch(`${node.address}/v1/agents/did:x402:${maker}`)
      expect(agent.status).toBe(missing.includes('identity') ? 404 : 200)
    })
    expect(log.missing).toEqual([])
  },
)

/** Jobs and routes that need a table of a shop that is not there. */
function missingTables(): Log & { missing: string[] } {
  const missing: string[] = []
  const look = (fields: Record<string, unknown>) => {
    const text = JSON.stringify(fields, (_key, value) => (value instanceof Error ? String(value) : value))
    if (/(relation|function|column) .* does not exist/.test(text)) missing.push(text)
  }
  return { missing, info: look, warn: look, error: look }
}

test('a new shop of one folder and one line brings all that is its own', async () => {
  const options = {
    list: [...shopList, toyShop],
    ownShops: ['account', 'sandbox', 'toys'],
    env: { TOYS: '{"names":["kite"]}' },
  }
  await onEmptyDatabase({ ...options, jobs: true }, async (node, query) => {
    const buyer = await till.newBuyer()
    const response = await buy(buyer, `${node.address}/toys/kite`)
    expect([response.status, await response.json()]).toEqual([200, { toy: 'kite' }])
    expect(await query('select toy from toy_sold')).toEqual([{ toy: 'kite' }])
    expect(
      await query(
        `select a.purpose, a.owner, b.owed_micro::text as owed from ledger_account a
         join ledger_balance b on b.account_id = a.id where a.role = 'payable'`,
      ),
    ).toEqual([{ purpose: 'toy_maker', owner: maker, owed: '1000' }])
    const missing = await buy(buyer, `${node.address}/toys/ball`)
    expect([missing.status, ((await missing.json()) as { code: string }).code]).toEqual([404, 'toy_missing'])
    const index = (await (await fetch(node.address, { headers: { accept: 'application/json' } })).json()) as {
      demo: { toys: string[] }
    }
    expect(index.demo.toys).toEqual(['kite'])
    const openapi = (await (await fetch(`${node.address}/openapi.json`)).json()) as { paths: Record<string, unknown> }
    expect(Object.keys(openapi.paths)).toContain('/toys/{name}')
    const models = await earlierClient(node.address)
    expect((await models.listTools()).tools.map(({ name }) => name)).toContain('toys_buy')
    const { resourceTemplates } = await models.listResourceTemplates()
    expect(resourceTemplates.map(({ name }) => name)).toEqual(['toys.buy'])
    expect((await models.listPrompts()).prompts.map(({ name }) => name)).toEqual(['buy_toy'])
    await models.close()
    const page = await fetch(`${node.address}/errors/${toyProblems.toy_missing.code}`)
    expect(((await page.json()) as { title: string }).title).toBe('No such toy')
    expect(await ownersIn(query)).toEqual(['account', 'console', 'till', 'tlog', 'toys'])
  })
})

test('the command line pauses a new shop and nothing else, says what that stops and ends it; its settings are checked with all others', async () => {
  const list = [...shopList, toyShop]
  await expect(till.startAnother({ list, env: { TOYS: '{"names":3}', TOKENS: 'x' } })).rejects.toThrow(
    /TOKENS: must be a JSON object[\s\S]*TOYS: names must be a list|TOYS: names[\s\S]*TOKENS/,
  )
  await onEmptyDatabase(
    { list, ownShops: ['account', 'sandbox', 'toys'], jobs: false },
    async (node, _query, operator) => {
      const reason = ['--reason', 'test', '--json']
      const paused = await operator('pause', 'toys', ...reason)
      expect([paused.code, JSON.parse(paused.out).data]).toEqual([
        0,
        expect.arrayContaining([expect.objectContaining({ name: 'toys', paused: true, stops: 'selling toys' })]),
      ])
      const buyer = await till.newBuyer()
      await expect
        .poll(async () => (await buy(buyer, `${node.address}/toys/ball`)).status, { timeout: 30_000 })
        .toBe(503)
      expect((await buy(buyer, `${node.address}${echoPath}?message=open`)).status).toBe(200)
      expect((await operator('resume', 'toys', ...reason)).code).toBe(0)
      await expect
        .poll(async () => (await buy(buyer, `${node.address}/toys/ball`)).status, { timeout: 30_000 })
        .toBe(200)
    },
  )
})
