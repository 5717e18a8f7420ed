import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Challenge, Receipt } from 'mppx'
import { describe, expect, test } from 'vitest'
import { verifyResponse } from '../packages/protocol/src/signatures/verify-response.ts'
import type { Facilitator } from '../packages/till/src/index.ts'
import { paymentRows, spentOnChain } from './harness/invariants.ts'
import {
  asX402,
  type CredentialChange,
  changeCredential,
  decodeJson,
  encodeJson,
  mppClient,
  sendCredential,
  signCredential,
} from './harness/mpp-client.ts'
import { decodeHeader, echoPath, encodePayload, quote, send, signPayment } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

let lost = false
const losing = (real: Facilitator): Facilitator => ({
  ...real,
  settle: (...given) => (lost ? Promise.resolve({ status: 'unknown', reason: 'timeout' }) : real.settle(...given)),
})
const till = useTill({ ownShops: 'till', jobs: false, intercept: { facilitator: losing } })
const price = 1_000n
const at = (query = '') => `${till.node.url}${echoPath}${query}`
const body = (message: string): RequestInit => ({
  method: 'POST',
  body: JSON.stringify({ message }),
  headers: { 'content-type': 'application/json' },
})
const rowsOf = async (address: string) =>
  (await paymentRows(till)).filter(({ payer }) => payer === address.toLowerCase()).map(({ state }) => state)

describe('an unmodified mppx client', () => {
  test.each([
    ['GET', '?message=hi', {}],
    ['POST', '', body('hi')],
  ] as const)('buys by %s and gets a signed receipt of its own dialect', async (_method, query, init) => {
    const buyer = await till.newBuyer()
    const response = await mppClient(buyer).fetch(at(query), init)
    expect(response.status).toBe(200)
    const bytes = new Uint8Array(await response.clone().arrayBuffer())
    expect(await response.json()).toMatchObject({ echo: 'hi', paid_by: buyer.address })
    const receipt = Receipt.fromResponse(response)
    expect(receipt).toMatchObject({ method: 'evm', status: 'success', network: 'eip155:8453', amount: '1000' })
    expect(receipt.reference).toMatch(/^0x[0-9a-f]{64}$/)
    expect(response.headers.get('payment-response')).toBeNull()
    expect(response.headers.get('cache-control')).toContain('private')
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(price)
    const directory = await (await fetch(`${till.node.url}/.well-known/http-message-signatures-directory`)).json()
    const verified = await verifyResponse(
      { method: init === undefined || !('method' in init) ? 'GET' : 'POST', url: at(query) },
      { status: 200, headers: response.headers, body: bytes },
      { directory, nowMs: Date.now() },
    )
    expect(verified.status).toBe('verified')
    expect(response.headers.get('signature-input')).toContain('"payment-receipt"')
  })

  test('buys a hundred times from answers that share everything but the challenge', async () => {
    const buyer = await till.newBuyer()
    const client = mppClient(buyer)
    for (let i = 0; i < 25; i += 1) {
      const answers = await Promise.all([1, 2, 3, 4].map(() => client.fetch(at('?message=shared'))))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    }
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(100n * price)
  })
})

test('every 402 has its own challenges, one for each network, within the limits of headers', async () => {
  const seen = new Set<string>()
  for (let i = 0; i < 50; i += 1) {
    const response = await fetch(at())
    const header = response.headers.get('www-authenticate') ?? ''
    const required = response.headers.get('payment-required') ?? ''
    expect(required.length).toBeLessThan(3_072)
    expect(required.length + header.length).toBeLessThan(5_120)
    expect(response.headers.get('cache-control')).toBe('no-store')
    for (const challenge of Challenge.fromResponseList(response)) {
      seen.add(challenge.id)
      expect(Date.parse(challenge.expires ?? '') % 1000).toBe(0)
      expect(challenge.realm).toBe('127.0.0.1')
    }
  }
  expect(seen.size).toBe(100)
})

describe('one payment, one serve, in either dialect', () => {
  test('the same credential again gets the stored answer, however often, and moves no more money', async () => {
    const buyer = await till.newBuyer()
    const credential = await signCredential(buyer, at('?message=once'))
    const first = await sendCredential(at('?message=once'), credential)
    expect(first.status).toBe(200)
    const text = await first.text()
    const copies = await Promise.all(Array.from({ length: 40 }, () => sendCredential(at('?message=once'), credential)))
    for (const copy of copies) {
      expect([copy.status, await copy.text()]).toEqual([200, text])
      expect(Receipt.fromResponse(copy)).toEqual(Receipt.fromResponse(first))
    }
    expect(await rowsOf(buyer.address)).toEqual(['served'])
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(price)
  })

  test('copies that arrive together buy once', async () => {
    const buyer = await till.newBuyer()
    const credential = await signCredential(buyer, at('?message=race'))
    const payload = asX402(credential, { url: at('?message=race') })
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        i % 2 ? sendCredential(at('?message=race'), credential) : send(at('?message=race'), payload),
      ),
    )
    for (const { status } of answers) expect([200, 409, 503]).toContain(status)
    const bodies = await Promise.all(answers.filter(({ status }) => status === 200).map((answer) => answer.text()))
    expect(new Set(bodies).size).toBe(1)
    expect(await rowsOf(buyer.address)).toEqual(['served'])
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(price)
  })

  test('an authorization that was paid as MPP is spent as x402, and the other way round', async () => {
    const buyer = await till.newBuyer()
    const credential = await signCredential(buyer, at('?message=a'))
    expect((await sendCredential(at('?message=a'), credential)).status).toBe(200)
    expect((await send(at('?message=a'), asX402(credential, { url: at('?message=a') }))).status).toBe(409)
    const other = await signCredential(buyer, at('?message=b'))
    const paid = await send(at('?message=b'), asX402(other, { url: at('?message=b') }))
    expect([paid.status, paid.headers.get('payment-receipt')]).toEqual([200, null])
    expect(decodeHeader(paid.headers.get('payment-response'))).toMatchObject({ success: true })
    expect((await sendCredential(at('?message=b'), other)).status).toBe(409)
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(2n * price)
  })
})

describe('a credential that is not for this request buys nothing', () => {
  test.each([
    ['another URL', '?message=a', '?message=b', {}, {}],
    ['another body', '', '', body('a'), body('b')],
    ['another method', '', '', {}, body('a')],
  ] as const)('%s is 409', async (_what, from, to, quoted, sent) => {
    const buyer = await till.newBuyer()
    const credential = await signCredential(buyer, at(from), quoted)
    expect((await sendCredential(at(to), credential, sent)).status).toBe(409)
    expect(await rowsOf(buyer.address)).toEqual([])
  })

  const inRequest = (change: object): CredentialChange => ({
    challenge: ({ request }) => ({ request: encodeJson({ ...decodeJson(request), ...change }) }),
  })
  const inOpaque = (change: object): CredentialChange => ({
    challenge: ({ opaque }) => ({ opaque: encodeJson({ ...decodeJson(opaque), ...change }) }),
  })
  const inChallenge = (change: Record<string, unknown>): CredentialChange => ({ challenge: () => change })
  const inPayload = (change: Record<string, unknown>): CredentialChange => ({ payload: () => change })
  test.each<[string, CredentialChange, number]>([
    ['edited amount', inRequest({ amount: '1' }), 402],
    ['edited recipient of the challenge', inRequest({ recipient: `0x${'44'.repeat(20)}` }), 402],
    ['edited expiry', inChallenge({ expires: '2099-01-01T00:00:00.000Z' }), 402],
    ['edited realm', inChallenge({ realm: 'example.com' }), 402],
    ['edited id', inChallenge({ id: randomBytes(32).toString('base64url') }), 402],
    ['edited random bits', inOpaque({ n: 'x' }), 402],
    ['a secret that was never made', inOpaque({ v: '77' }), 402],
    ['no opaque', inChallenge({ opaque: undefined }), 402],
    ['edited nonce', inPayload({ nonce: `0x${'11'.repeat(32)}` }), 402],
    ['longer validity', { payload: ({ validBefore }) => ({ validBefore: String(Number(validBefore) + 20) }) }, 402],
    ['edited value', inPayload({ value: '999' }), 402],
    ['edited recipient', { payload: ({ from }) => ({ to: from }) }, 402],
    ['broken signature', inPayload({ signature: `0x${'22'.repeat(65)}` }), 402],
    ['another source', { root: { source: `did:pkh:eip155:8453:0x${'33'.repeat(20)}` } }, 400],
    ['another method', inChallenge({ method: 'tempo' }), 400],
    ['another type', inPayload({ type: 'hash' }), 400],
    ['no payload', { root: { payload: undefined } }, 400],
  ])('%s', async (_what, change, status) => {
    const buyer = await till.newBuyer()
    const credential = changeCredential(await signCredential(buyer, at('?message=x')), change)
    const answer = await sendCredential(at('?message=x'), credential)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('payment-receipt')).toBeNull()
    expect(answer.headers.get('payment-response')).toBeNull()
    expect(answer.headers.has('www-authenticate')).toBe(status === 402)
    expect(await rowsOf(buyer.address)).toEqual([])
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(0n)
  })

  test.each(['Payment', 'Payment !', `Payment ${'A'.repeat(13_000)}`, 'Payment e30', 'payment bnVsbA'])(
    'no credential: %.20s',
    async (credential) => {
      expect((await sendCredential(at(), credential)).status).toBe(400)
    },
  )

  test('a paid credential whose challenge is edited afterwards gets an error, not a request to pay again', async () => {
    const buyer = await till.newBuyer()
    const credential = await signCredential(buyer, at('?message=x'))
    expect((await sendCredential(at('?message=x'), credential)).status).toBe(200)
    const edited = changeCredential(credential, inChallenge({ realm: 'example.com' }))
    expect((await sendCredential(at('?message=x'), edited)).status).toBe(200)
    const unnamed = changeCredential(credential, inChallenge({ id: 'x'.repeat(43) }))
    expect((await sendCredential(at('?message=x'), unnamed)).status).toBe(409)
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(price)
  })
})

test('any two payment headers are 400, and nothing is taken', async () => {
  const buyer = await till.newBuyer()
  const credential = await signCredential(buyer, at())
  const payment = encodePayload(await signPayment(buyer, await quote(at())))
  const all = {
    authorization: credential,
    'payment-authorization': credential,
    'payment-signature': payment,
    'x-payment': payment,
  }
  const names = Object.keys(all) as (keyof typeof all)[]
  for (const [i, one] of names.entries())
    for (const other of names.slice(i + 1)) {
      const answer = await fetch(at(), { headers: { [one]: all[one], [other]: all[other] } })
      expect([one, other, answer.status]).toEqual([one, other, 400])
    }
  expect(await rowsOf(buyer.address)).toEqual([])
  const beside = await fetch(at(), { headers: { 'payment-authorization': credential, authorization: 'Bearer x' } })
  expect(beside.status).toBe(200)
})

test('an unknown outcome is 503 without a receipt or a new challenge, and no second purchase begins', async () => {
  const buyer = await till.newBuyer()
  const credential = await signCredential(buyer, at('?message=lost'))
  lost = true
  try {
    for (let i = 0; i < 2; i += 1) {
      const answer = await sendCredential(at('?message=lost'), credential)
      expect(answer.status).toBe(503)
      for (const name of ['payment-receipt', 'payment-response', 'www-authenticate', 'payment-required'])
        expect([name, answer.headers.get(name)]).toEqual([name, null])
      expect(answer.headers.get('retry-after')).not.toBeNull()
    }
    // The stock client stops there as well: a fresh credential is not submitted while the first is unknown.
    expect((await mppClient(buyer).fetch(at('?message=lost'))).status).toBe(503)
    expect(await rowsOf(buyer.address)).toEqual(['unknown'])
  } finally {
    lost = false
  }
})

test('MPP=false offers none, and refuses a credential without asking for another payment', async () => {
  const without = await till.startAnother({ ownShops: 'till', jobs: false, env: { MPP: 'false' } })
  const url = `${without.url}${echoPath}`
  const unpaid = await fetch(url)
  expect([unpaid.status, unpaid.headers.get('www-authenticate')]).toEqual([402, null])
  expect((await sendCredential(url, await signCredential(await till.newBuyer(), at()))).status).toBe(400)
})

test('mppx validate finds nothing that fails', async () => {
  const bin = join(import.meta.dirname, '../node_modules/mppx/dist/bin.js')
  const home = await mkdtemp(join(tmpdir(), 'mppx-'))
  const output = await promisify(execFile)(
    process.execPath,
    [bin, 'validate', till.node.url, '--endpoint', `GET:${echoPath}`],
    { env: { PATH: process.env['PATH'], HOME: home, NO_COLOR: '1' } },
  ).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  )
  await rm(home, { recursive: true, force: true })
  expect(output).toMatch(/\d+ passed/)
  expect(output).not.toMatch(/[1-9]\d* failed/)
  expect(output).toContain('WWW-Authenticate header present')
})
