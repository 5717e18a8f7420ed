import { contentDigest } from '@assay/protocol/signatures/signature-base'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { sha256 } from '../kernel/bytes.ts'
import { Problem } from '../kernel/problem.ts'
import { createTestDeps } from './proof-deps.fixture.ts'
import { acceptSignature, type SignedRequest, verifySignedRequest } from './verify-signed-request.ts'

const wallet = privateKeyToAccount(`0x${'0d'.repeat(32)}`)
const address = wallet.address.toLowerCase() as `0x${string}`
const body = Buffer.from('{"amount":"5"}')

type Options = { components?: string[]; created?: number; expires?: number; nonce?: string | undefined; keyid?: string }

/** Signs the way an ERC-8128 client does. */
async function signRequest(
  now: number,
  request: Partial<SignedRequest> = {},
  options: Options = {},
): Promise<SignedRequest> {
  const target: SignedRequest = {
    method: 'POST',
    authority: '127.0.0.1:4020',
    path: '/v1/orders',
    query: '?market=a',
    rawBody: body,
    ...request,
    headers: new Map([['content-digest', contentDigest(sha256(request.rawBody ?? body))], ...(request.headers ?? [])]),
  }
  const values: Record<string, string> = {
    '@method': target.method,
    '@authority': target.authority,
    '@path': target.path,
    '@query': target.query,
    'content-digest': target.headers.get('content-digest') ?? '',
  }
  const components = options.components ?? ['@authority', '@method', '@path', '@query', 'content-digest']
  const created = options.created ?? now
  const nonce = 'nonce' in options ? options.nonce : 'client-nonce-1'
  const inner =
    `(${components.map((name) => `"${name}"`).join(' ')});created=${created};expires=${options.expires ?? created + 60}` +
    `${nonce === undefined ? '' : `;nonce="${nonce}"`};keyid="${options.keyid ?? `erc8128:8453:${address}`}"`
  const lines = components.map((name) => `"${name}": ${values[name] ?? ''}`)
  const signature = await wallet.signMessage({ message: [...lines, `"@signature-params": ${inner}`].join('\n') })
  const headers = new Map(target.headers)
  headers.set('signature-input', `eth=${inner}`)
  headers.set('signature', `eth=:${Buffer.from(signature.slice(2), 'hex').toString('base64')}:`)
  return { ...target, headers }
}

async function problemOf(work: Promise<unknown>): Promise<Problem | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof Problem) return error
      throw error
    },
  )
}

test('a request signed by its wallet proves the account, once', async () => {
  const deps = createTestDeps()
  const request = await signRequest(1_800_000_000)
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => verifySignedRequest(deps, request)))
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled').map((outcome) => outcome.value)).toEqual([
    { chainId: 8453, address, kind: 'key' },
  ])
  const other = await signRequest(1_800_000_000, {}, { nonce: 'client-nonce-2' })
  expect((await verifySignedRequest(deps, other)).address).toBe(address)
})

test('nothing signed asks for a signature and says how', async () => {
  const deps = createTestDeps()
  const request = await signRequest(1_800_000_000)
  const problem = await problemOf(verifySignedRequest(deps, { ...request, headers: new Map() }))
  expect(problem?.code).toBe('proof_required')
  expect(problem?.details.headers).toEqual({ 'accept-signature': acceptSignature })
})

test('a signature for one request is worthless for any other', async () => {
  const deps = createTestDeps()
  const request = await signRequest(1_800_000_000)
  const changes: Partial<SignedRequest>[] = [
    { method: 'PUT' },
    { authority: '127.0.0.1:4021' },
    { path: '/v1/orders/2' },
    { query: '?market=b' },
    { query: '?' },
    { rawBody: Buffer.from('{"amount":"500"}') },
    { rawBody: Buffer.alloc(0) },
  ]
  for (const change of changes) {
    const problem = await problemOf(verifySignedRequest(deps, { ...request, ...change }))
    expect(problem?.code, JSON.stringify(change)).toBe('proof_invalid')
    expect(problem?.details.headers).toEqual({ 'accept-signature': acceptSignature })
  }
  expect((await verifySignedRequest(deps, request)).address).toBe(address)
})

test('what must be covered, how long it may live and its nonce are not negotiable', async () => {
  const deps = createTestDeps()
  const cases: Options[] = [
    { components: ['@authority', '@method', '@path', 'content-digest'] },
    { components: ['@authority', '@method', '@path', '@query'] },
    { components: ['@authority', '@path', '@query', 'content-digest'] },
    { components: ['@authority', '@method', '@path', '@query', 'content-digest', 'x-absent'] },
    { components: ['@authority', '@method', '@path', '@query', 'content-digest', '@unknown'] },
    { expires: 1_800_000_061 },
    { created: 1_800_000_010 },
    { created: 1_799_999_930 },
    { expires: 1_800_000_000 },
    { nonce: undefined },
    { nonce: 'short' },
    { keyid: `erc8128:1:${address}` },
    { keyid: `eip155:8453:${address}` },
  ]
  for (const options of cases) {
    const request = await signRequest(1_800_000_000, {}, options)
    expect((await problemOf(verifySignedRequest(deps, request)))?.code, JSON.stringify(options)).toBe('proof_invalid')
  }
})

test('query and digest need not be covered where there is none', async () => {
  const deps = createTestDeps()
  const request = await signRequest(
    1_800_000_000,
    { method: 'GET', query: '?', rawBody: Buffer.alloc(0) },
    { components: ['@authority', '@method', '@path'] },
  )
  expect((await verifySignedRequest(deps, request)).address).toBe(address)
})

test('signatures of other parties under other labels do not disturb', async () => {
  const deps = createTestDeps()
  const request = await signRequest(1_800_000_000)
  const headers = new Map(request.headers)
  headers.set('signature-input', `bot=("@authority");keyid="abc", ${request.headers.get('signature-input')}`)
  headers.set('signature', `bot=:AAAA:, ${request.headers.get('signature')}`)
  expect((await verifySignedRequest(deps, { ...request, headers })).address).toBe(address)
})

test('an outage of the chain is 503, not 401, for an account that is no plain wallet', async () => {
  const keyid = `erc8128:8453:0x${'ee'.repeat(20)}`
  const request = await signRequest(1_800_000_000, {}, { keyid })
  expect(
    (
      await problemOf(
        verifySignedRequest(
          createTestDeps(async () => 'could_not_check'),
          request,
        ),
      )
    )?.status,
  ).toBe(503)
  expect(
    (
      await problemOf(
        verifySignedRequest(
          createTestDeps(async () => 'invalid'),
          request,
        ),
      )
    )?.status,
  ).toBe(401)
  expect(
    await verifySignedRequest(
      createTestDeps(async () => 'valid'),
      request,
    ),
  ).toMatchObject({ kind: 'contract' })
})
