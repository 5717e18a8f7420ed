import { extractDiscoveryInfo } from '@x402/extensions/bazaar'
import { afterAll, expect, test } from 'vitest'
import { checkListings } from '../packages/cli/src/doctor/listings.ts'
import * as node from '../packages/node/src/index.ts'
import { json, startContractServer } from '../packages/till/src/facilitators/http/contract-server.fixture.ts'
import { buy, echoPath, quote } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

const facilitator = await startContractServer()
facilitator.play(json(503, {}))
afterAll(() => facilitator.stop())

const till = useTill({ ownShops: ['account', 'sandbox', 'tokens'] })

type Body = Parameters<typeof extractDiscoveryInfo>[0]

/** What the published indexer reads in the body that went out for this purchase. */
async function listedFor(url: string, secret: string, init: RequestInit = {}) {
  const seen = facilitator.calls.length
  const response = await buy(await till.newBuyer(), url, { identifier: secret }, init)
  expect(response.status).toBe(503)
  const body = facilitator.calls[seen]?.body as { paymentPayload: Body; paymentRequirements: never }
  return {
    body,
    offer: await quote(url, init),
    found: extractDiscoveryInfo(body.paymentPayload, body.paymentRequirements),
  }
}

test('what goes to a facilitator lists the route as declared, and carries nothing that the client sent beside it', async () => {
  const node = await till.startAnother({ env: { FACILITATOR: facilitator.baseUrl } })
  const index = (await (await fetch(`${node.url}/`)).json()) as { demo: { tokens: { address: string }[] } }
  const token = index.demo.tokens[0]?.address
  const asked = [
    { url: `${node.url}${echoPath}?message=listed`, path: echoPath, init: {} },
    {
      url: `${node.url}${echoPath}`,
      path: echoPath,
      init: { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"message":"listed"}' },
    },
    { url: `${node.url}/v1/report/${token}`, path: '/v1/report/:address', init: {} },
  ]
  for (const { url, path, init } of asked) {
    const secret = `secret-identifier-${asked.length}-${path.length}-${init.method ?? 'GET'}`
    const { body, offer, found } = await listedFor(url, secret, init)
    expect(found, url).toMatchObject({
      resourceUrl: `${node.url}${path}`,
      method: init.method ?? 'GET',
      serviceName: 'Assay',
      mimeType: 'application/json',
      description: expect.stringMatching(/\w{3}/),
      discoveryInfo: { input: { type: 'http', method: init.method ?? 'GET' } },
    })
    const { paymentPayload } = body
    expect(paymentPayload.resource).toEqual(offer.resource)
    expect(paymentPayload.extensions).toEqual({ bazaar: offer.extensions.bazaar })
    expect(JSON.stringify(body)).not.toContain(secret)
  }
})

test('the doctor warns before a listing runs out, and says which', async () => {
  const local = await till.startAnother()
  expect((await buy(await till.newBuyer(), `${local.url}${echoPath}?message=settled`)).status).toBe(200)
  const env = {
    DATABASE_URL: till.db.databaseUrl,
    BASE_RPC_URLS: till.base.url ?? '',
    POLYGON_RPC_URLS: till.polygon.url ?? '',
  }
  const config = node.parseConfig({ ...env, FACILITATOR: facilitator.baseUrl })
  const examine = (days: number, of = config) => checkListings(node, of, Date.now() + days * 86_400_000)
  await until('the sale is over', async () => (await examine(0))[0]?.status === 'ok')
  expect(await examine(0)).toMatchObject([{ name: 'bazaar listing', detail: '1 route settled within 23 days' }])
  for (const [days, words] of [
    [25, 'is dropped in 5 days'],
    [29, 'is dropped in 1 day'],
    [40, 'is no longer listed'],
    [200, 'nothing is listed'],
  ] as const)
    expect(await examine(days)).toMatchObject([{ status: 'warn', detail: expect.stringContaining(words) }])
  expect(await examine(200, node.parseConfig(env))).toEqual([])
})
