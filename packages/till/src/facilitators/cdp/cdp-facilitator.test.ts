import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { extractDiscoveryInfo } from '@x402/extensions/bazaar'
import { afterAll, describe, expect, it } from 'vitest'
import { knownNetworks, type Network } from '../../chain/index.ts'
import { testPayer } from '../../chain/wallet/wallet.fixture.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLog } from '../../kernel/log.ts'
import { silentMetrics } from '../../kernel/metrics.ts'
import { systemRng } from '../../kernel/random.ts'
import type { Sql } from '../../store/database.ts'
import { json, startContractServer } from '../http/contract-server.fixture.ts'
import { paymentOf } from '../local/local.fixture.ts'
import { type CdpFacilitatorOptions, cdpBaseUrl, createCdpFacilitator } from './cdp-facilitator.ts'
import { createCdpJwt, readCdpKey } from './cdp-jwt.ts'

const payment = paymentOf(knownNetworks[0] as Network, testPayer('remote'))
const hash = `0x${'cd'.repeat(32)}`
const alive = () => new AbortController().signal
const keyId = 'organizations/1/apiKeys/2'

function ed25519(): { secret: string; publicKey: KeyObject } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32)
  const point = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  return { secret: Buffer.concat([seed, point]).toString('base64'), publicKey }
}

function p256(type: 'sec1' | 'pkcs8' = 'sec1'): { secret: string; publicKey: KeyObject } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { secret: privateKey.export({ format: 'pem', type }).toString(), publicKey }
}

let settledThisMonth: bigint
const server = await startContractServer()
afterAll(() => server?.stop())

const sql = {
  query: async () => {
    settledThisMonth += 1n
    return { rows: [{ settled: settledThisMonth }], rowCount: 1 }
  },
} as unknown as Sql

const cdp = (secret: string, overrides: Partial<CdpFacilitatorOptions> = {}) =>
  createCdpFacilitator({
    apiKeyId: keyId,
    apiKeySecret: secret,
    sql,
    clock: systemClock,
    rng: systemRng,
    log: silentLog,
    metrics: silentMetrics,
    baseUrl: server.baseUrl,
    ...overrides,
  })

describe.each([
  ['EdDSA', ed25519()],
  ['ES256', p256()],
  ['ES256', p256('pkcs8')],
  ['ES256', ((pair) => ({ ...pair, secret: pair.secret.replaceAll('\n', '\\n') }))(p256())],
] as const)('a CDP key that signs with %s', (algorithm, { secret, publicKey }) => {
  it('signs each call for its own method and path', async () => {
    server.requireKey({ id: keyId, algorithm, publicKey })
    settledThisMonth = 0n
    server.play(json(200, { isValid: true }), json(200, { success: true, transaction: hash }), json(200, { kinds: [] }))
    const facilitator = cdp(secret)
    expect(await facilitator.verify(payment, alive())).toEqual({ status: 'valid' })
    expect(await facilitator.settle(payment, alive())).toEqual({ status: 'submitted', transaction: hash, feeMicro: 0n })
    expect(await facilitator.supported(alive())).toEqual({ kinds: [], signers: {} })
  })

  it('does not get in with the key of somebody else', async () => {
    server.requireKey({ id: keyId, algorithm, publicKey: (algorithm === 'EdDSA' ? ed25519() : p256()).publicKey })
    expect(await cdp(secret).settle(payment, alive())).toMatchObject({
      status: 'refused',
      reason: 'facilitator_unauthorized',
    })
  })
})

it.each(['verify', 'settle'] as const)('lists what is sold in the body of %s', async (operation) => {
  const { secret, publicKey } = ed25519()
  server.requireKey({ id: keyId, algorithm: 'EdDSA', publicKey })
  server.play(json(200, { isValid: true, success: true, transaction: hash }))
  const resource = {
    url: 'https://node.example/v1/report/0x1?depth=3',
    description: 'Who controls a token',
    mimeType: 'application/json',
    serviceName: 'Assay',
  }
  const info = { input: { type: 'http', method: 'GET', pathParams: { address: '0x1' } }, output: { type: 'json' } }
  const bazaar = { info, schema: { type: 'object' }, routeTemplate: '/v1/report/:address' }
  await cdp(secret)[operation]({ ...payment, resource, bazaar }, alive())
  const { paymentPayload, paymentRequirements } = (server.calls.at(-1)?.body ?? {}) as Record<string, never>
  expect(extractDiscoveryInfo(paymentPayload as never, paymentRequirements as never)).toMatchObject({
    resourceUrl: 'https://node.example/v1/report/:address',
    description: resource.description,
    mimeType: resource.mimeType,
    serviceName: resource.serviceName,
    discoveryInfo: info,
  })
})

describe('the fee of CDP', () => {
  const { secret, publicKey } = ed25519()
  it('is nothing for the first thousand of a month, then a tenth of a cent', async () => {
    server.requireKey({ id: keyId, algorithm: 'EdDSA', publicKey })
    server.play(json(200, { success: true, transaction: hash }))
    settledThisMonth = 999n
    expect(await cdp(secret).settle(payment, alive())).toMatchObject({ feeMicro: 0n })
    expect(await cdp(secret).settle(payment, alive())).toMatchObject({ feeMicro: 1_000n })
    expect(await cdp(secret, { feeMicroOf: (number) => number }).settle(payment, alive())).toMatchObject({
      feeMicro: 1_002n,
    })
  })

  it('never hides a settlement when it cannot be counted', async () => {
    const broken = { query: () => Promise.reject(new Error('no database')) } as unknown as Sql
    server.play(json(200, { success: true, transaction: hash }))
    expect(await cdp(secret, { sql: broken }).settle(payment, alive())).toMatchObject({
      status: 'submitted',
      transaction: hash,
    })
  })

  it('is not counted for what did not settle', async () => {
    settledThisMonth = 5n
    server.play(json(200, { success: false, errorReason: 'insufficient_funds' }), json(500, {}))
    await cdp(secret).settle(payment, alive())
    await cdp(secret).settle(payment, alive())
    expect(settledThisMonth).toBe(5n)
  })
})

describe('a token', () => {
  it('names the hosted service by its real host and path, and no two are alike', () => {
    const key = readCdpKey(keyId, ed25519().secret)
    const make = () =>
      createCdpJwt(key, { method: 'POST', url: new URL(`${cdpBaseUrl}/settle`) }, systemClock, systemRng)
    const claims = JSON.parse(Buffer.from(make().split('.')[1] ?? '', 'base64url').toString()) as {
      uris: string[]
      iss: string
    }
    expect(claims).toMatchObject({
      iss: 'cdp',
      sub: keyId,
      uris: ['POST api.cdp.coinbase.com/platform/v2/x402/settle'],
    })
    expect(make()).not.toBe(make())
  })
})

describe('a secret that is none', () => {
  const halves = Buffer.from(ed25519().secret, 'base64')
  const other = Buffer.from(ed25519().secret, 'base64')
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ format: 'pem', type: 'pkcs8' })
    .toString()
  const k1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
    .privateKey.export({ format: 'pem', type: 'pkcs8' })
    .toString()
  it.each([
    ['nothing', '', /neither base64 nor a PEM/],
    ['words', 'my secret!', /neither base64 nor a PEM/],
    ['half of one', halves.subarray(0, 32).toString('base64'), /64 bytes, this one has 32/],
    [
      'two halves of different keys',
      Buffer.concat([halves.subarray(0, 32), other.subarray(32)]).toString('base64'),
      /do not belong together/,
    ],
    ['a broken PEM', '-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----', /cannot be read/],
    ['an RSA key', rsa, /EC P-256/],
    ['a key of another curve', k1, /EC P-256/],
  ])('is refused in clear words: %s', (_, secret, words) => {
    expect(() => readCdpKey(keyId, secret)).toThrow(words)
    expect(() => readCdpKey(keyId, secret)).toThrow(/^CDP_API_KEY_SECRET/)
  })

  it('is refused without its id, and no message carries the secret', () => {
    expect(() => readCdpKey(' ', ed25519().secret)).toThrow('CDP_API_KEY_ID')
    const secret = halves.subarray(0, 40).toString('base64')
    expect(() => readCdpKey(keyId, secret)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining(secret) }),
    )
    expect(createPublicKey(readCdpKey(keyId, halves.toString('base64')).privateKey).asymmetricKeyType).toBe('ed25519')
  })
})
