import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDemoSecurities } from '../packages/node/src/shops/matrix/demo/demo-securities.ts'
import { failsFile, framesFile, holdingsFile, tickersFile } from '../packages/node/src/shops/matrix/demo/write-files.ts'
import { matrixShop, openMatrixShop } from '../packages/node/src/shops/matrix/index.ts'
import { openPublishers, type Publishers } from '../packages/node/src/shops/matrix/ingest/publishers.fixture.ts'
import { sources } from '../packages/node/src/shops/matrix/operator.ts'
import { parseMatrixSettings } from '../packages/node/src/shops/matrix/settings.ts'
import { parseSubscriptionPolicy } from '../packages/node/src/shops/subscriptions/index.ts'
import type { Devnet } from '../packages/till/src/devnet/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import { type ProductionNode, productionOrigin, startProductionNode } from './harness/production-node.ts'
import { startChain } from './harness/start-chain.ts'
import { until } from './harness/until.ts'

/** The first day of the feed: a production node, and publishers that answer over HTTP. */
let chains: [Devnet, Devnet]
let publishers: Publishers
let node: ProductionNode
const settings = parseMatrixSettings({}, { demo: false })
const securities = createDemoSecurities(60)
const addressOf = (url: string) => url.replace('https://', '')
const dueOf = (id: string) => sources.find((source) => source.id === id)?.schedule.due(Date.now()) ?? []
const today = new Date().toISOString().slice(0, 10)

beforeAll(async () => {
  const ports = { clock: systemClock, log: silentLog, port: 0 }
  chains = [await startChain({ chainId: 8453, ...ports }), await startChain({ chainId: 137, ...ports })]
  publishers = await openPublishers()
  const put = (url: string, bytes: Buffer) => publishers.files.set(addressOf(url), bytes)
  for (const { url, period } of dueOf('sec-fails')) put(url, failsFile(securities, period, today).bytes)
  for (const { url, period, dueAtMs } of dueOf('sec-shares'))
    put(
      url,
      framesFile(
        securities,
        period,
        new Date(Math.min(dueAtMs, Date.now()) - 60 * 86_400_000).toISOString().slice(0, 10),
      ).bytes,
    )
  for (const { url, period } of dueOf('sec-tickers')) put(url, tickersFile(securities, period).bytes)
  for (const { url, period } of dueOf('sec-13f')) {
    put(url, holdingsFile(securities, period).bytes)
    publishers.faults.set(addressOf(url), ['html'])
  }
  const open = openMatrixShop({
    settings,
    subscriptions: parseSubscriptionPolicy(),
    outbound: () => publishers.outbound,
  })
  node = await startProductionNode(chains, {
    ownShops: ['account', 'sandbox', 'subscriptions'],
    shops: [{ name: matrixShop.name, migrations: matrixShop.migrations, open }],
  })
}, 120_000)
afterAll(async () => {
  await node?.stop()
  await publishers?.close()
  for (const chain of chains ?? []) await chain.stop()
})

function ask(path: string): Promise<{ status: number; json: Record<string, unknown> }> {
  const headers = { host: new URL(productionOrigin).host }
  return new Promise((resolve, reject) => {
    const sent = request(`${node.address}${path}`, { headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, json: JSON.parse(Buffer.concat(chunks).toString('utf8')) }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}

type Row = {
  source: string
  present: number
  wanted: number
  fix: string | null
  last_check: { status: string } | null
}
const coverage = async () => {
  const rows = (await ask('/matrix')).json['coverage'] as Row[]
  return new Map(rows.map((row) => [row.source, row]))
}

test('what needs no licence is fetched without a setting, and sold once it has come', async () => {
  expect([...settings.fetch].sort()).toEqual(['sec-13f', 'sec-fails', 'sec-shares', 'sec-tickers'])
  await until('fails to deliver are for sale', async () => (await ask('/matrix/ftd/live')).status === 402)
  await until('subscriptions are for sale', async () => (await ask('/matrix/subscribe/standard')).status === 402)
  await until('all was checked', async () => (await coverage()).get('sec-13f')?.last_check !== null)
  const rows = await coverage()
  expect(rows.get('sec-fails')).toMatchObject({ present: 6, wanted: 6, fix: null })
  expect(rows.get('sec-tickers')).toMatchObject({ present: 1, wanted: 1, fix: null })
}, 120_000)

test('what a publisher spoils or the operator has not set up is said with what to do, and stops nothing else', async () => {
  const rows = await coverage()
  expect(rows.get('sec-13f')).toMatchObject({ present: 0, last_check: { status: 'refused archive' } })
  expect(rows.get('finra-short-volume')?.fix).toContain('add a line for finra-short-volume to LICENCES')
  expect(rows.get('prices')?.fix).toContain('set PRICE_SOURCE')
  const ready = await ask('/readyz')
  expect(ready.status).toBe(200)
  expect((ready.json['checks'] as Record<string, string>)['market data']).toBe('failed')
  expect(await ask('/matrix/institutional/live')).toMatchObject({ status: 503, json: { why: 'empty' } })
  expect(await ask('/matrix/short-volume/live')).toMatchObject({ status: 503, json: { why: 'no_licence' } })
}, 60_000)

test('the publisher sees who asks and is asked less than ten times a second', () => {
  const times = publishers.asked.map(({ atMs }) => atMs)
  expect(publishers.asked.every(({ userAgent }) => userAgent.includes('@'))).toBe(true)
  for (const time of times)
    expect(times.filter((other) => other >= time && other < time + 1_000).length).toBeLessThan(10)
  expect(new Set(publishers.asked.map(({ address }) => address)).size).toBe(publishers.asked.length)
})
