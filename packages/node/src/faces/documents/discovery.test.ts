import { knownNetworks } from '@assay/till/chain/network'
import { bazaarExtension } from '@assay/till/documents'
import { systemClock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import { createFixedKeyring, createResponseSigner, generateSigningKey } from '@assay/till/signing'
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  createHttpApp,
  defineRoute,
  errorRoutes,
  type HttpApp,
  jsonAnswer,
  type RouteDeclaration,
} from '../../http/index.ts'
import { nodeSite } from '../../http/node-site.ts'
import { createRegistry } from '../../http/registry.ts'
import { licenseText } from './license-text.ts'
import { type DiscoveryDeps, discoveryRoutes } from './routes.ts'

const paid = { kind: 'paid', networks: ['eip155:8453', 'eip155:137'], payee: 'pay_to', revocable: false } as const
const answer = async () => ({ answer: jsonAnswer({}) })
const address = '0xb200000000000000000000000000000000000001'

const shop: RouteDeclaration[] = [
  defineRoute({
    id: 'tokens.report',
    area: 'A',
    method: 'GET',
    path: '/v1/report/:address',
    summary: 'Who controls a token, with evidence',
    params: z.strictObject({ address: z.string() }),
    query: z.strictObject({ block: z.string().optional() }),
    output: z.strictObject({ verdict: z.enum(['clean', 'unknown']) }),
    example: { params: { address }, output: { verdict: 'unknown' } },
    access: { ...paid, price: { kind: 'fixed', micro: 20_000n }, prepare: answer },
    next: '/',
  }),
  defineRoute({
    id: 'market.buy',
    area: 'C',
    method: 'POST',
    path: '/v1/options',
    summary: 'Buy an option on a topic cluster',
    body: z.strictObject({ cluster: z.string().max(64), side: z.enum(['call', 'put']), size: z.int().min(1).max(10) }),
    output: z.strictObject({ id: z.string() }),
    example: { body: { cluster: 'c1', side: 'call', size: 1 }, output: { id: 'opt_1' } },
    access: {
      ...paid,
      networks: ['eip155:8453'],
      price: { kind: 'from_input', lowestMicro: 50_000_000n, highestMicro: 120_000_000n, of: () => 60_000_000n },
      prepare: answer,
    },
    next: '/',
  }),
  defineRoute({
    id: 'rewards.redeem',
    area: 'B',
    method: 'POST',
    path: '/redeem',
    summary: 'Redeem points',
    body: z.strictObject({ points: z.string() }),
    output: z.strictObject({ ok: z.boolean() }),
    example: { body: { points: '1' }, output: { ok: true } },
    access: { kind: 'free', security: 'erc8128', handle: async () => jsonAnswer({ ok: true }) },
    next: '/',
  }),
]

const site = nodeSite({
  baseUrl: 'https://node.test',
  apiUrl: 'https://api.test',
  contactEmail: 'operator@node.test',
  contentLicense: 'LicenseRef-Assay-1.0',
})

function openApp(given: Pick<DiscoveryDeps, 'demo' | 'examples'> = {}): HttpApp {
  const keyring = createFixedKeyring(generateSigningKey(systemRng), 0)
  const sold: RouteDeclaration[] = [...shop, ...errorRoutes]
  const documents = (routes: readonly RouteDeclaration[]) =>
    discoveryRoutes({ site, routes, networks: knownNetworks.slice(0, 2), keyring, clock: systemClock, ...given })
  const routes = [...sold, ...documents([...sold, ...documents(sold)])]
  return createHttpApp({
    registry: createRegistry(routes, bazaarExtension),
    gate: {
      challenge: () => ({ paymentRequired: 'e30=', body: '{}' }),
      pass: () => Promise.reject(new Error('unpaid')),
    },
    signer: createResponseSigner(keyring, { clock: systemClock }),
    config: { ...site, demo: false, royaltyRecipient: address },
    clock: systemClock,
    ids: createIds(systemClock, systemRng),
    log: silentLog,
    metrics: silentMetrics,
    readiness: { refusal: () => undefined },
  })
}

async function read(app: HttpApp, target: string, accept = '*/*') {
  const { signal } = new AbortController()
  const response = await app.handle({
    method: 'GET',
    target,
    rawHeaders: ['Host', 'node.test', 'Accept', accept],
    remoteAddress: '192.0.2.1',
    readBody: async () => new Uint8Array(),
    connection: signal,
    ownSignal: () => signal,
    abort: () => {},
  })
  const headers = new Map<string, string>()
  for (let i = 0; i < response.headers.length; i += 2)
    headers.set(String(response.headers[i]).toLowerCase(), String(response.headers[i + 1]))
  return { status: response.status, headers, text: String(response.body) }
}

describe('OpenAPI', () => {
  test('describes every route with price, problem, schemas and examples', async () => {
    const document = JSON.parse((await read(openApp(), '/openapi.json')).text)
    expect(document.openapi).toBe('3.1.0')
    expect(document.info).toMatchObject({ version: '1.0.0', contact: { email: 'operator@node.test' } })
    expect(document.info['x-guidance']).toContain('PAYMENT-SIGNATURE')
    const report = document.paths['/v1/report/{address}'].get
    expect(report['x-payment-info']).toEqual({
      price: { mode: 'fixed', currency: 'USD', amount: '0.02' },
      protocols: [{ x402: {} }],
    })
    expect(report.security).toEqual([{ x402: [] }])
    expect(report.parameters).toContainEqual({ $ref: '#/components/parameters/IdempotencyKey' })
    expect(report.responses['402'].$ref).toBe('#/components/responses/PaymentRequired')
    expect(report.responses['200'].content['application/json'].schema.properties.verdict.enum).toContain('unknown')
    expect(report.parameters[0]).toMatchObject({ name: 'address', in: 'path', required: true, example: address })
    const buy = document.paths['/v1/options'].post
    expect(buy['x-payment-info'].price).toEqual({ mode: 'dynamic', currency: 'USD', min: '50', max: '120' })
    expect(buy.servers).toEqual([{ url: 'https://api.test' }])
    expect(buy.requestBody.content['application/json'].example).toEqual({ cluster: 'c1', side: 'call', size: 1 })
    expect(document.paths['/redeem'].post.security).toEqual([{ erc8128: [] }])
    expect(document.paths['/errors'].get.security).toEqual([])
    expect(Object.keys(document.components.securitySchemes)).toEqual(['x402', 'erc8128'])
  })

  test('examples of a demo node name what it has', async () => {
    const real = '0xb200000000000000000000000000000000000002'
    const { text } = await read(openApp({ examples: { [address]: real } }), '/openapi.json')
    expect(JSON.parse(text).paths['/v1/report/{address}'].get.parameters[0].example).toBe(real)
    expect(text).not.toContain(address)
  })

  test('every reference in it resolves, every operation id is unique, and nothing hidden is shown', async () => {
    const { text } = await read(openApp(), '/openapi.json')
    const document = JSON.parse(text)
    for (const [, pointer] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      let place = document
      for (const part of String(pointer).split('/')) place = place?.[part]
      expect(place, String(pointer)).toBeDefined()
    }
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path as object))
    const ids = operations.map((operation) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(document.paths['/favicon.ico']).toBeUndefined()
  })
})

describe('Bazaar', () => {
  test('the block of every paid route is valid for the stock validator and small', () => {
    for (const route of shop.filter(({ access }) => access.kind === 'paid')) {
      const block = bazaarExtension(route) as unknown as Parameters<typeof validateDiscoveryExtension>[0]
      expect(validateDiscoveryExtension(block), route.id).toEqual({ valid: true })
      expect(validateDiscoveryExtensionSpec(block as never), route.id).toMatchObject({ valid: true })
      expect(JSON.stringify(block).length, route.id).toBeLessThanOrEqual(640)
    }
  })

  test('a block that would be too large loses detail, never validity', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`field_number_${i}`, z.string().max(100).describe('A long description')]),
    )
    const body = Object.fromEntries(Object.keys(wide).map((name) => [name, 'x']))
    const [, buy] = shop
    if (!buy) throw new Error('the fixture has a second route')
    const route = defineRoute({
      ...buy,
      body: z.strictObject(wide),
      example: { body, output: { id: 'x'.repeat(999) } },
    })
    const block = bazaarExtension(route) as unknown as Parameters<typeof validateDiscoveryExtension>[0]
    expect(validateDiscoveryExtension(block)).toEqual({ valid: true })
    expect(JSON.stringify(block).length).toBeLessThan(1_200)
  })
})

describe('documents', () => {
  test('the index says what is sold, for how much, where, and with which keys', async () => {
    const seen = await read(openApp(), '/')
    const index = JSON.parse(seen.text)
    expect(index).toMatchObject({ service: 'Assay', version: '1.0.0', base_url: 'https://node.test' })
    expect(index.sold.map((item: { price_usd: string }) => item.price_usd)).toEqual(['0.02', '50'])
    expect(index.networks.map((item: { network: string }) => item.network)).toEqual(['eip155:8453', 'eip155:137'])
    expect(index.keys.algorithm).toBe('ed25519')
    expect(index.demo).toBeUndefined()
    expect(seen.headers.get('link')).toContain('rel="service-desc"')
    const demo = JSON.parse((await read(openApp({ demo: () => ({ accounts: [] }) }), '/')).text)
    expect(demo.demo).toEqual({ accounts: [] })
  })

  test('every document answers, signed, under its media type', async () => {
    const app = openApp()
    const rows: [string, string][] = [
      ['/openapi.json', 'application/json'],
      ['/llms.txt', 'text/plain; charset=utf-8'],
      ['/license', 'text/plain; charset=utf-8'],
      ['/favicon.ico', 'image/svg+xml'],
      ['/.well-known/did.json', 'application/json'],
      ['/.well-known/x402', 'application/json'],
      ['/.well-known/http-message-signatures-directory', 'application/http-message-signatures-directory+json'],
    ]
    for (const [path, type] of rows) {
      const seen = await read(app, path)
      expect([seen.status, seen.headers.get('content-type')], path).toEqual([200, type])
      expect(seen.headers.get('signature-input'), path).toContain('tag="x402-response"')
    }
    const json = await read(app, '/.well-known/http-message-signatures-directory', 'application/json')
    expect([json.status, json.headers.get('content-type')]).toEqual([200, 'application/json'])
  })

  test('llms.txt lists routes with prices and says how to pay', async () => {
    const { text } = await read(openApp(), '/llms.txt')
    expect(text.startsWith('# Assay\n\n> ')).toBe(true)
    expect(text).toContain('Who controls a token, with evidence (0.02 USD)')
    expect(text).toContain('(50 to 120 USD)')
    expect(text).toContain('PAYMENT-SIGNATURE')
  })

  test('every URL of the x402 manifest answers 402 unchanged', async () => {
    const app = openApp()
    const manifest = JSON.parse((await read(app, '/.well-known/x402')).text)
    expect(manifest).toEqual({
      version: 1,
      resources: [`https://node.test/v1/report/${address}`, 'https://api.test/v1/options'],
    })
    expect((await read(app, `/v1/report/${address}`)).status).toBe(402)
  })

  test('the api catalog links both base addresses to their description', async () => {
    const catalog = JSON.parse((await read(openApp(), '/.well-known/api-catalog')).text)
    expect(catalog.linkset.map((link: { anchor: string }) => link.anchor)).toEqual([
      'https://node.test/',
      'https://api.test/',
    ])
  })

  test('the licence text is the one that the header names', () => {
    expect(licenseText('LicenseRef-Assay-1.0')).toContain('2.5 %')
    expect(licenseText('CC-BY-4.0')).toContain('CC-BY-4.0')
  })
})
