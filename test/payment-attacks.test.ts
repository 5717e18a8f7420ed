import { randomBytes } from 'node:crypto'
import { type Hex, hexToBytes, toHex } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import type { Facilitator } from '../packages/till/src/index.ts'
import { paymentRows, spentOnChain } from './harness/invariants.ts'
import { postJson } from './harness/post-json.ts'
import { buy, decodeHeader, echoPath, encodePayload, quote, send, signPayment } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

let url: string
const settles: string[] = []
const counting = (facilitator: Facilitator): Facilitator => ({
  ...facilitator,
  settle: (payment, signal) => {
    settles.push(payment.paymentKey)
    return facilitator.settle(payment, signal)
  },
})

const till = useTill({ ownShops: 'till', intercept: { facilitator: counting } })
beforeAll(async () => {
  url = `${till.node.url}${echoPath}`
})

const settlesOf = (nonce: string) => settles.filter((seen) => seen === nonce).length

/** Refused: no answer, no settle, no charge. */
async function expectRefused(
  response: Response,
  statuses: readonly number[],
  buyer: string,
  nonce?: string,
): Promise<Record<string, unknown>> {
  const body = (await response.json()) as Record<string, unknown>
  expect(statuses, JSON.stringify(body)).toContain(response.status)
  expect(body).not.toHaveProperty('echo')
  expect(body['hint']).toEqual(expect.any(String))
  if (response.status === 402) {
    expect(response.headers.get('payment-required')).toBeTruthy()
    expect(decodeHeader(response.headers.get('payment-response'))).toMatchObject({ success: false, transaction: '' })
  }
  if (nonce) expect(settlesOf(nonce)).toBe(0)
  expect(await spentOnChain(till, 'base', buyer)).toBe(0n)
  return body
}

test('A2: two hundred copies of one payment at once are served once, settled once, charged once', async () => {
  const buyer = await till.newBuyer()
  const payload = encodePayload(await signPayment(buyer, await quote(url)))
  const responses = await Promise.all(Array.from({ length: 200 }, () => send(url, payload)))
  const statuses = responses.map((response) => response.status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  expect(
    statuses.every((status) => [200, 409, 503].includes(status)),
    String(new Set(statuses)),
  ).toBe(true)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
  await Promise.all(responses.map((response) => response.text()))
})

test('A3: the same payload after it was served answers 409, and the stored bytes with the secret identifier', async () => {
  const buyer = await till.newBuyer()
  const offer = await quote(`${url}?message=one`)
  const plain = await signPayment(buyer, offer)
  expect((await send(`${url}?message=one`, plain)).status).toBe(200)
  const again = await send(`${url}?message=one`, plain)
  expect(again.status).toBe(409)
  expect(await again.json()).toMatchObject({ code: 'payment_used' })

  const secret = await signPayment(buyer, offer, { identifier: 'purchase-0123456789' })
  const first = await send(`${url}?message=one`, secret)
  const bytes = await first.text()
  const replay = await send(`${url}?message=one`, secret)
  expect([first.status, replay.status]).toEqual([200, 200])
  expect(await replay.text()).toBe(bytes)
  // A new authorization under the same identifier is never submitted.
  const fresh = await send(`${url}?message=one`, await signPayment(buyer, offer, { identifier: 'purchase-0123456789' }))
  expect(await fresh.text()).toBe(bytes)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(2000n)
})

test('an identifier used for another request answers 409', async () => {
  const buyer = await till.newBuyer()
  expect((await buy(buyer, `${url}?message=a`, { identifier: 'one-id-per-purchase' })).status).toBe(200)
  const other = await buy(buyer, `${url}?message=b`, { identifier: 'one-id-per-purchase' })
  expect(other.status).toBe(409)
  expect(await other.json()).toMatchObject({ code: 'payment_identifier_conflict' })
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
})

test('A6, A8: a payment for one resource buys nothing at another, and its nonce is not burned', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(`${url}?message=a`))
  const nonce = payload.payload.authorization['nonce'] as string
  await expectRefused(await send(`${url}?message=b`, payload), [402, 409], buyer.address, nonce)
  expect((await send(`${url}?message=a`, payload)).status).toBe(200)
})

test('A6: without a resource in the payload the first claim decides', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(`${url}?message=a`), { resource: undefined })
  expect((await send(`${url}?message=a`, payload)).status).toBe(200)
  const elsewhere = await send(`${url}?message=b`, payload)
  expect(elsewhere.status).toBe(409)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
})

test('A7: a payment for one body or method does not buy another', async () => {
  const buyer = await till.newBuyer()
  const post = (message: string) => postJson({ message })
  const payload = await signPayment(buyer, await quote(url, post('a')))
  expect((await send(url, payload, post('a'))).status).toBe(200)
  expect((await send(url, payload, post('b'))).status).toBe(409)
  expect((await send(url, payload)).status).toBe(409)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
})

test.each([
  ['A14: one micro too little', { value: 999n, accepted: { amount: '999' } }],
  ['A15: one micro too much', { value: 1001n, accepted: { amount: '1001' } }],
  ['A15: eighteen decimals', { value: 1000n * 10n ** 12n, accepted: { amount: String(1000n * 10n ** 12n) } }],
  ['A16: the accepted amount is right, the authorization is not', { value: 1n }],
  ['A19: signed for another chain', { chainId: 1 }],
  ['A21: to somebody else', { to: '0x000000000000000000000000000000000000dEaD' as const }],
  [
    'A21: somebody else in accepted too',
    {
      to: '0x000000000000000000000000000000000000dEaD' as const,
      accepted: { payTo: '0x000000000000000000000000000000000000dEaD' },
    },
  ],
  ['A21: to the zero address', { to: '0x0000000000000000000000000000000000000000' as const }],
  ['A22: another asset in accepted', { accepted: { asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' } }],
  ['another scheme', { accepted: { scheme: 'auth-capture' } }],
  ['another network name', { accepted: { network: 'base' } }],
  ['A24: runs out in a second', { validBefore: BigInt(Math.floor(Date.now() / 1000) + 1) }],
  ['A24: starts in a minute', { validAfter: BigInt(Math.floor(Date.now() / 1000) + 60) }],
  ['A24: ten years long', { validBefore: BigInt(Math.floor(Date.now() / 1000) + 315_360_000) }],
])('%s: 402, nothing taken', async (_name, options) => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(url), options)
  await expectRefused(await send(url, payload), [402], buyer.address, payload.payload.authorization['nonce'])
})

const flipS = (signature: Hex): Hex => {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const bytes = hexToBytes(signature)
  const s = BigInt(toHex(bytes.slice(32, 64)))
  const v = bytes[64] === 27 ? '1c' : '1b'
  return `${toHex(bytes.slice(0, 32))}${(order - s).toString(16).padStart(64, '0')}${v}` as Hex
}

test.each<[string, (signature: Hex) => Hex]>([
  ['random', () => toHex(randomBytes(65))],
  ['high-s twin', flipS],
  ['v of 0 or 1', (signature) => `${signature.slice(0, -2)}${signature.endsWith('1b') ? '00' : '01'}` as Hex],
  ['64 bytes', (signature) => signature.slice(0, -2) as Hex],
  ['66 bytes', (signature) => `${signature}00` as Hex],
  ['4 kB', () => toHex(randomBytes(4_000))],
])('A26: a signature that is %s is refused', async (_name, alter) => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(url), { signature: alter })
  await expectRefused(await send(url, payload), [400, 402], buyer.address, payload.payload.authorization['nonce'])
})

test('malformed headers are 400 with a hint, never 402', async () => {
  const buyer = await till.newBuyer()
  for (const header of [
    'x',
    '!!!',
    encodePayload(null),
    encodePayload([]),
    encodePayload({}),
    encodePayload({ x402Version: 2 }),
    'A'.repeat(13_000),
  ])
    await expectRefused(await send(url, header), [400], buyer.address)
})

test('a version 1 client learns what to send', async () => {
  const v1 = encodePayload({ x402Version: 1, scheme: 'exact', network: 'base', payload: {} })
  for (const headers of [{ 'x-payment': v1 }, { 'payment-signature': v1 }]) {
    const response = await fetch(url, { headers: headers as Record<string, string> })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      code: 'payment_v1',
      hint: expect.stringContaining('PAYMENT-SIGNATURE'),
    })
  }
})

test('wrong input is 402 without payment and 400 with one, and costs nothing', async () => {
  const buyer = await till.newBuyer()
  const wrong = `${url}?unknown=1`
  const unpaid = await fetch(wrong)
  expect(unpaid.status).toBe(402)
  expect(await unpaid.json()).toMatchObject({ input_problem: { code: 'input_invalid' } })
  const payload = await signPayment(buyer, await quote(wrong))
  await expectRefused(await send(wrong, payload), [400], buyer.address, payload.payload.authorization['nonce'])
})

test('A45: a wallet without the money is refused before any settlement', async () => {
  const buyer = await till.newBuyer(0n)
  const payload = await signPayment(buyer, await quote(url))
  const response = await send(url, payload)
  expect(response.status).toBe(402)
  expect(await response.json()).toMatchObject({ reason: 'insufficient_funds' })
  expect(settlesOf(payload.payload.authorization['nonce'] as string)).toBe(0)
})

test('a payer never has more in flight than its balance, and at most eight payments', async () => {
  const buyer = await till.newBuyer(3_500n)
  const offer = await quote(url)
  const payloads = await Promise.all(Array.from({ length: 20 }, () => signPayment(buyer, offer)))
  const responses = await Promise.all(payloads.map((payload) => send(url, payload)))
  const statuses = responses.map((response) => response.status)
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(3)
  expect(
    statuses.every((status) => [200, 402, 429].includes(status)),
    String(statuses),
  ).toBe(true)
  const charged = await spentOnChain(till, 'base', buyer.address, 3_500n)
  expect(charged).toBe(BigInt(statuses.filter((status) => status === 200).length) * 1000n)
  await Promise.all(responses.map((response) => response.text()))
})

test('A11: HEAD, OPTIONS and overrides with a valid payment serve and charge nothing', async () => {
  const buyer = await till.newBuyer()
  const payload = encodePayload(await signPayment(buyer, await quote(url)))
  for (const method of ['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH']) {
    const response = await send(url, payload, { method })
    expect([204, 402, 405], method).toContain(response.status)
    expect(await response.text()).not.toContain('paid_by')
  }
  const overridden = await send(url, payload, { method: 'PUT', headers: { 'x-http-method-override': 'GET' } })
  expect(overridden.status).toBe(405)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(0n)
})

test('A12: path tricks with a valid payment never serve', async () => {
  const buyer = await till.newBuyer()
  const payload = encodePayload(await signPayment(buyer, await quote(url), { resource: undefined }))
  for (const path of [
    '//v1/sandbox/echo',
    '/V1/sandbox/echo',
    '/v1%2fsandbox/echo',
    '/v1/sandbox/%65cho',
    '/v1/sandbox/echo/',
    '/v1/sandbox/echo;x',
    '/v1/sandbox/echo%00',
    '/v1/sandbox/echo%20',
  ]) {
    const response = await send(`${till.node.url}${path}`, payload)
    expect([400, 402, 404], path).toContain(response.status)
    await response.text()
  }
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(0n)
})

test('A51, A52: a paid answer is private and opens nothing to the unpaid', async () => {
  const buyer = await till.newBuyer()
  const paid = await buy(buyer, `${url}?message=private`)
  expect(paid.headers.get('cache-control')).toMatch(/private/)
  expect(paid.headers.get('cache-control')).toMatch(/no-store/)
  for (const headers of [
    { 'if-none-match': '*' },
    { range: 'bytes=0-10' },
    { 'if-modified-since': new Date().toUTCString() },
  ]) {
    const response = await fetch(`${url}?message=private`, { headers: headers as Record<string, string> })
    expect(response.status).toBe(402)
    await response.text()
  }
})

test('ref and aff are kept with the payment and are no part of the resource', async () => {
  const buyer = await till.newBuyer()
  const friend = '0x1111111111111111111111111111111111111111'
  const offer = await quote(`${url}?message=x&ref=${friend}&aff=${friend}`)
  expect(offer.resource.url).toBe(`${url}?message=x`)
  expect((await send(`${url}?message=x&ref=${friend}&aff=${friend}`, await signPayment(buyer, offer))).status).toBe(200)
  const { rows } = await till.db.owner.query<{ ref: string; aff: string }>(
    `select ref, aff from payment where payer = $1`,
    [buyer.address.toLowerCase()],
  )
  expect(rows).toEqual([{ ref: friend, aff: friend }])
})

test('every served payment has exactly one transfer, and no transfer serves twice', async () => {
  const rows = (await paymentRows(till)).filter((row) => row.state === 'served')
  const transfers = rows.map((row) => `${row.network} ${row.transaction} ${row.log_position}`)
  expect(new Set(transfers).size).toBe(rows.length)
})

test('a payment beside X-PAYMENT was taken although another reader may have found the other one', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(url))
  const both = await send(url, payload, { headers: { 'x-payment': encodePayload(payload) } })
  const body = await expectRefused(both, [400], buyer.address, payload.payload.authorization['nonce'])
  expect(body['code']).toBe('payment_malformed')
  expect((await send(url, payload)).status).toBe(200)
})
