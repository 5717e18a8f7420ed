import { createChallenge, verifySignedRequest, verifySiwx } from '@assay/till/proofs'
import { createTestDeps } from '@assay/till/proofs/proof-deps.fixture'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { AssayError } from './errors.ts'
import { readChallenge, type SignInChallenge, signIn } from './sign-in.ts'
import { type SignRequestOptions, signRequest } from './sign-request.ts'

const account = privateKeyToAccount(`0x${'0e'.repeat(32)}`)
const address = account.address.toLowerCase()
const origin = 'http://127.0.0.1:4020'
const platform = {
  nowMs: () => 1_800_000_000_000,
  randomBytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
}

/** The request as the node's HTTP app would hand it to the verifier. */
async function asReceived(request: Request) {
  const { host, pathname, search } = new URL(request.url)
  return {
    method: request.method,
    authority: host,
    path: pathname,
    query: search === '' ? '?' : search,
    headers: new Map(request.headers),
    rawBody: new Uint8Array(await request.arrayBuffer()),
  }
}

async function signed(url: string, init?: RequestInit, options: Partial<SignRequestOptions> = {}) {
  return asReceived(await signRequest(url, init, { account, platform, ...options }))
}

test('a signed request proves its account to the node, once', async () => {
  const deps = createTestDeps()
  const init = { method: 'POST', body: '{"amount":"5"}', headers: { 'content-type': 'application/json' } }
  const request = await signed(`${origin}/v1/orders?market=a%20b`, init)
  expect(await verifySignedRequest(deps, request)).toEqual({ chainId: 8453, address, kind: 'key' })
  await expect(verifySignedRequest(deps, request)).rejects.toThrow('used before')
  const again = await signed(`${origin}/v1/orders?market=a%20b`, init)
  expect((await verifySignedRequest(deps, again)).address).toBe(address)
})

test('a request without query or body is signed as well, and for the chain that was asked for', async () => {
  const deps = createTestDeps()
  const request = await signed(`${origin}/v1/orders`, undefined, { chainId: 137, validitySeconds: 10 })
  expect(await verifySignedRequest(deps, request)).toMatchObject({ chainId: 137, address })
})

test('a signed request that was changed on its way is refused', async () => {
  const deps = createTestDeps()
  const request = await signed(`${origin}/v1/orders?market=a`, { method: 'POST', body: '{"amount":"5"}' })
  for (const change of [
    { path: '/v1/orders/1' },
    { query: '?market=b' },
    { authority: '127.0.0.1:4021' },
    { rawBody: new TextEncoder().encode('{"amount":"500"}') },
  ])
    await expect(verifySignedRequest(deps, { ...request, ...change }), JSON.stringify(change)).rejects.toThrow()
})

test('a signed challenge signs in at the node that issued it, once', async () => {
  const deps = createTestDeps()
  const challenge = createChallenge(deps, origin)
  const header = await signIn(challenge, { account, origin, platform })
  expect(await verifySiwx(deps, header, origin)).toEqual({ chainId: 8453, address, kind: 'key' })
  await expect(verifySiwx(deps, header, origin)).rejects.toThrow('used before')
})

test('optional fields of a challenge are signed as they are', async () => {
  const deps = createTestDeps()
  for (const change of [
    { statement: undefined },
    { requestId: 'r-1', resources: [`${origin}/a`, `${origin}/b`] },
    { notBefore: '2026-01-01T00:00:00Z', expirationTime: undefined },
  ]) {
    const challenge = createChallenge(deps, origin)
    const info = { ...challenge.info, ...change }
    const header = await signIn({ ...challenge, info }, { account, origin, chainId: 137, platform })
    expect((await verifySiwx(deps, header, origin)).chainId).toBe(137)
  }
})

test('challenges for another site, chain or time are not signed, nor ones that smuggle lines', async () => {
  const challenge = createChallenge(createTestDeps(), origin)
  const altered = (change: Record<string, unknown>): SignInChallenge => ({
    ...challenge,
    info: { ...challenge.info, ...change },
  })
  const refused: [SignInChallenge, Record<string, unknown>][] = [
    [altered({ domain: 'evil.example' }), {}],
    [altered({ uri: 'http://127.0.0.1:4020.evil.example' }), {}],
    [altered({ uri: 'nowhere' }), {}],
    [altered({ statement: 'Hello\nURI: http://127.0.0.1:4020' }), {}],
    [altered({ nonce: undefined }), {}],
    [altered({ resources: ['a\nb'] }), {}],
    [altered({ version: '2' }), {}],
    [altered({ expirationTime: '2020-01-01T00:00:00Z' }), {}],
    [challenge, { chainId: 1 }],
    [challenge, { origin: 'http://127.0.0.1:4021' }],
  ]
  for (const [given, options] of refused) {
    const outcome = await signIn(given, { account, origin, platform, ...options }).catch((error: unknown) => error)
    expect(outcome, JSON.stringify(given.info)).toBeInstanceOf(AssayError)
    expect((outcome as AssayError).code).toBe('challenge_refused')
  }
})

test('what is no challenge is not taken for one', () => {
  for (const value of [undefined, null, [], {}, { info: {} }, { info: [], supportedChains: [] }])
    expect(readChallenge(value)).toBeUndefined()
})
