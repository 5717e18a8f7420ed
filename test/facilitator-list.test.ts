import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAssayClient, readDemoNetworks } from '../packages/sdk/src/index.ts'
import {
  type ContractServer,
  hangUp,
  startContractServer,
} from '../packages/till/src/facilitators/http/contract-server.fixture.ts'
import { buy, echoPath } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

/** Nobody listens there. */
const dead = 'http://127.0.0.1:1/x402'

describe('the first of two facilitators is down', () => {
  const till = useTill({ ownShops: 'till', env: { FACILITATOR: `${dead},local` } })

  test('purchases go on with the second', async () => {
    const buyer = await till.newBuyer()
    for (const message of ['one', 'two'])
      expect((await buy(buyer, `${till.node.url}${echoPath}?message=${message}`)).status).toBe(200)
    const { rows } = await till.db.database.query(`select distinct facilitator from facilitator_hold`)
    expect(rows).toEqual([{ facilitator: 'local' }])
  })
})

describe('no facilitator is well', () => {
  const till = useTill({ ownShops: 'till' })

  test('only what is paid by transfer stops: free routes and credit go on, and the node stays ready', async () => {
    const owner = await till.newBuyer()
    expect((await buy(owner, `${till.node.url}/v1/credit/topup?usd=1`)).status).toBe(200)
    const node = await till.startAnother({ env: { FACILITATOR: dead } })
    const refused = await buy(owner, `${node.url}${echoPath}?message=exact`)
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'settlement_unavailable' }])
    expect((await fetch(`${node.url}/openapi.json`)).status).toBe(200)
    const ready = await fetch(`${node.url}/readyz`)
    expect([ready.status, await ready.json()]).toMatchObject([200, { checks: { facilitator: 'failed' } }])
    const networks = await readDemoNetworks(node.url)
    const client = createAssayClient({
      account: owner,
      baseUrl: node.url,
      networks,
      maxPerCallUsd: '1',
      credit: 'prefer',
    })
    const { response } = await client.fetch(`${echoPath}?message=credit`)
    expect(response.status).toBe(200)
  })
})

describe('a facilitator that takes payments and says nothing', () => {
  let server: ContractServer
  beforeAll(async () => {
    server = await startContractServer()
    server.play(hangUp)
  })
  afterAll(() => server.stop())
  const till = useTill({ ownShops: 'till' })

  test('keeps what it holds: the same payment never reaches the second', async () => {
    const node = await till.startAnother({ env: { FACILITATOR: `${server.baseUrl},local` } })
    const response = await buy(await till.newBuyer(), `${node.url}${echoPath}?message=held`)
    expect([response.status, await response.json()]).toMatchObject([503, { code: 'settlement_unknown' }])
    const { rows } = await till.db.database.query<{ count: number }>(
      `select count(*)::int as count from settlement_transaction where purpose = 'settle'`,
    )
    expect(rows).toEqual([{ count: 0 }])
  })
})
