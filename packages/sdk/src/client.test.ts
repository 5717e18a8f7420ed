import { getEventListeners } from 'node:events'
import { sha256 } from '@assay/protocol/hash'
import { bindingNonce } from '@assay/protocol/request-binding'
import { authorizationTypes } from '@assay/protocol/typed-data/transfer-authorization'
import { getAddress, recoverTypedDataAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { type AssayClientOptions, createAssayClient } from './client.ts'
import { AssayError } from './errors.ts'
import type { PayableNetwork } from './networks.ts'
import {
  challenge,
  createTestSeller,
  honestOffer,
  type SellerAnswer,
  sellerOrigin,
  settled,
  type TestSeller,
  testUsdc,
} from './seller.fixture.ts'

const account = privateKeyToAccount(`0x${'0f'.repeat(32)}`)
const url = `${sellerOrigin}/v1/sandbox/echo?message=hello`
const networks: PayableNetwork[] = [{ network: 'eip155:8453', usdc: testUsdc, name: 'USD Coin', version: '2' }]

function clientOf(seller: TestSeller, options: Partial<AssayClientOptions> = {}) {
  return createAssayClient({ account, maxPerCallUsd: '0.05', networks, platform: seller.platform, ...options })
}

async function errorOf(work: Promise<unknown>): Promise<AssayError> {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (outcome instanceof AssayError) return outcome
  throw outcome ?? new Error('nothing was refused')
}

const honest = (request: Request, payment: unknown): SellerAnswer => (payment ? settled() : challenge(request.url))

test('a 402 within the policy is paid, bound to the request, and the answer comes back verified', async () => {
  const seller = createTestSeller(honest)
  const { response, payment, verified } = await clientOf(seller).fetch(url)
  expect(await response.json()).toEqual({ echo: 'hello' })
  expect(payment).toMatchObject({ status: 'settled', amountMicro: '1000', network: 'eip155:8453' })
  expect(verified).toMatchObject({ status: 'verified', keyId: 'k1' })

  const [sent] = seller.payments
  const { authorization, signature } = sent?.payload ?? { authorization: {}, signature: '0x' }
  const salt = sent?.extensions?.['request-binding']?.info.salt as `0x${string}`
  expect(authorization.nonce).toBe(
    bindingNonce({ method: 'GET', resource: url, contentType: '', bodyDigest: sha256(new Uint8Array()), salt }),
  )
  expect(sent?.extensions?.['payment-identifier']?.info.id).toMatch(/^pay_[0-9a-f]{32}$/)
  expect(sent?.extensions?.bazaar).toBeUndefined()
  const signer = await recoverTypedDataAddress({
    domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: getAddress(testUsdc.toLowerCase()) },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: account.address,
      to: getAddress(honestOffer.payTo.toLowerCase()),
      value: 1000n,
      validAfter: 0n,
      validBefore: 1_800_000_060n,
      nonce: authorization.nonce as `0x${string}`,
    },
    signature,
  })
  expect(signer).toBe(account.address)
})

test('a signal that purchases share keeps no listener of a purchase that is over', async () => {
  const { signal } = new AbortController()
  for (const message of ['a', 'b'])
    await clientOf(createTestSeller(honest)).fetch(`${sellerOrigin}/v1/sandbox/echo?message=${message}`, { signal })
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

test('a POST is bound to its body and content type, and the same bytes are sent with the payment', async () => {
  const seller = createTestSeller(honest)
  const body = JSON.stringify({ message: 'hi' })
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  await clientOf(seller).fetch(url, { method: 'POST', body, headers })
  const salt = seller.payments[0]?.extensions?.['request-binding']?.info.salt as `0x${string}`
  const parts = {
    method: 'POST',
    resource: url,
    contentType: 'application/json',
    bodyDigest: sha256(new TextEncoder().encode(body)),
    salt,
  }
  expect(seller.payments[0]?.payload.authorization.nonce).toBe(bindingNonce(parts))
  expect(await seller.requests[1]?.text()).toBe(body)
})

test('an answer that costs nothing is passed on, verified', async () => {
  const seller = createTestSeller(() => ({ status: 200, body: { free: true } }))
  const { payment, verified } = await clientOf(seller).fetch(url)
  expect(payment.status).toBe('none')
  expect(verified.status).toBe('verified')
})

test('bait: a price above the maximum is refused before anything is signed', async () => {
  const seller = createTestSeller((request) =>
    challenge(request.url, { accepts: [{ ...honestOffer, amount: '50001' }] }),
  )
  const error = await errorOf(clientOf(seller).fetch(url))
  expect(error.code).toBe('price_above_maximum')
  expect(error.details.priceUsd).toBe('0.050001')
  expect(seller.payments).toHaveLength(0)
})

test('unit confusion, foreign assets, networks, methods and payees are refused with reasons', async () => {
  const bad: Record<string, unknown>[] = [
    { amount: '0.001' },
    { amount: '1e3' },
    { amount: '-5' },
    { asset: '0x00000000000000000000000000000000000000C1' },
    { network: 'eip155:1' },
    { scheme: 'upto' },
    { payTo: account.address },
    { payTo: '0x0000000000000000000000000000000000000000' },
    { extra: { name: 'USDC', version: '2' } },
    { extra: { assetTransferMethod: 'permit2' } },
    { maxTimeoutSeconds: 1_000_000 },
  ]
  for (const change of bad) {
    const seller = createTestSeller((request) => challenge(request.url, { accepts: [{ ...honestOffer, ...change }] }))
    const error = await errorOf(clientOf(seller).fetch(url))
    expect(error.code, JSON.stringify(change)).toBe('no_acceptable_offer')
    expect(seller.payments).toHaveLength(0)
  }
})

test('malformed challenges are refused before anything is signed', async () => {
  const good = challenge(url).headers?.['payment-required'] ?? ''
  const rebuild = (change: Record<string, unknown>) => btoa(JSON.stringify({ ...JSON.parse(atob(good)), ...change }))
  const bad = [
    undefined,
    'nonsense!',
    btoa('[]'),
    btoa('{'),
    rebuild({ x402Version: 1 }),
    rebuild({ accepts: [] }),
    rebuild({ accepts: [{ ...honestOffer, amount: 1000 }] }),
    rebuild({ accepts: new Array(17).fill(honestOffer) }),
    rebuild({ resource: { url: 'nowhere' } }),
    rebuild({ extensions: { a: 1 } }),
    'A'.repeat(20_000),
  ]
  for (const value of bad) {
    const seller = createTestSeller(() => ({
      status: 402,
      body: {},
      ...(value === undefined ? {} : { headers: { 'payment-required': value } }),
    }))
    expect((await errorOf(clientOf(seller).fetch(url))).code, value?.slice(0, 40)).toBe('payment_required_malformed')
    expect(seller.payments).toHaveLength(0)
  }
})

test('a quote for another resource, or from a lookalike host, is refused', async () => {
  const others = [
    'https://node.example.evil.example/v1/sandbox/echo?message=hello',
    `${sellerOrigin}/v1/report/1?message=hello`,
    `${sellerOrigin}/v1/sandbox/echo?message=other`,
    `${sellerOrigin}/v1/sandbox/echo`,
  ]
  for (const other of others) {
    const seller = createTestSeller(() => challenge(other))
    expect((await errorOf(clientOf(seller).fetch(url))).code, other).toBe('resource_mismatch')
    expect(seller.payments).toHaveLength(0)
  }
  const seller = createTestSeller(honest)
  const lookalike = url.replace('node.example', 'n0de.example')
  expect((await errorOf(clientOf(seller, { baseUrl: sellerOrigin }).fetch(lookalike))).code).toBe('host_not_allowed')
  expect(seller.payments).toHaveLength(0)
})

test('attribution in the URL is no part of what is bought', async () => {
  const seller = createTestSeller((_, payment) => (payment ? settled() : challenge(url)))
  const { payment } = await clientOf(seller).fetch(`${url}&ref=0x${'01'.repeat(20)}`)
  expect(payment.status).toBe('settled')
})

test('503 is retried with the same payment and id, honouring Retry-After, until the answer comes', async () => {
  const seller = createTestSeller((request, payment, attempt) => {
    if (!payment) return challenge(request.url)
    if (attempt < 4) return { status: 503, body: { code: 'settlement_unknown' }, headers: { 'retry-after': '3' } }
    return settled()
  })
  const { payment } = await clientOf(seller).fetch(url)
  expect(payment.status).toBe('settled')
  expect(seller.payments).toHaveLength(4)
  expect(new Set(seller.payments.map((sent) => JSON.stringify(sent))).size).toBe(1)
  expect(seller.sleeps).toEqual([3000, 3000, 3000])
})

test('a seller that never decides is neither stormed nor paid again, and the purchase can be resumed', async () => {
  let decided = false
  const seller = createTestSeller((request, payment) => {
    if (!payment) return challenge(request.url)
    if (decided) return settled()
    return {
      status: 503,
      body: { code: 'settlement_unknown', status_url: `${sellerOrigin}/v1/payments/pay_1` },
      headers: { 'retry-after': '0' },
    }
  })
  const client = clientOf(seller, { deadlineMs: 60_000 })
  const error = await errorOf(client.fetch(url))
  expect(error.code).toBe('payment_outcome_unknown')
  expect(error.details.statusUrl).toBe(`${sellerOrigin}/v1/payments/pay_1`)
  expect(seller.payments.length).toBeLessThan(15)
  expect(new Set(seller.payments.map((sent) => sent.payload.authorization.nonce)).size).toBe(1)
  decided = true
  const { payment } = await client.fetch(url, {}, { purchase: error.details.purchase as never })
  expect(payment.status).toBe('settled')
  expect(new Set(seller.payments.map((sent) => sent.payload.authorization.nonce)).size).toBe(1)
})

test('a connection that breaks after paying is retried with the same payment', async () => {
  const seller = createTestSeller((request, payment, attempt) => {
    if (!payment) return challenge(request.url)
    if (attempt < 3) throw new TypeError('connection reset')
    return settled()
  })
  const { payment } = await clientOf(seller).fetch(url)
  expect(payment.status).toBe('settled')
  expect(new Set(seller.payments.map((sent) => sent.payload.authorization.nonce)).size).toBe(1)
})

test('after a proven 402 one fresh authorization is signed, with the same id', async () => {
  const seller = createTestSeller((request, payment, attempt) => {
    if (!payment) return challenge(request.url)
    return attempt === 1 ? { ...challenge(request.url), body: { code: 'payment_failed' } } : settled()
  })
  const { payment } = await clientOf(seller).fetch(url)
  expect(payment.status).toBe('settled')
  expect(new Set(seller.payments.map((sent) => sent.payload.authorization.nonce)).size).toBe(2)
  expect(new Set(seller.payments.map((sent) => sent.extensions?.['payment-identifier']?.info.id)).size).toBe(1)
})

test('resumed where nothing may be signed, a refusal of the payment comes back as the seller said it', async () => {
  let expired = false
  const seller = createTestSeller((request, payment) => {
    if (!payment) return challenge(request.url)
    if (expired) return { ...challenge(request.url), body: { code: 'payment_failed' } }
    return { status: 503, body: { code: 'not_ready' }, headers: { 'retry-after': '0' } }
  })
  const error = await errorOf(clientOf(seller, { deadlineMs: 60_000 }).fetch(url))
  expired = true
  const resuming = clientOf(seller, { networks: [] })
  const { response } = await resuming.fetch(url, {}, { purchase: error.details.purchase as never })
  expect([response.status, await response.json()]).toEqual([402, { code: 'payment_failed' }])
  expect(new Set(seller.payments.map((sent) => sent.payload.authorization.nonce)).size).toBe(1)
})

test('a seller that switches payee, asset or price after the payment is not paid a second time', async () => {
  for (const change of [
    { payTo: '0x00000000000000000000000000000000000000F2' },
    { asset: '0x00000000000000000000000000000000000000C1' },
    { amount: '1001' },
  ]) {
    const seller = createTestSeller((request, payment) =>
      payment
        ? {
            ...challenge(request.url, { accepts: [{ ...honestOffer, ...change }] }),
            body: { code: 'payment_failed' },
          }
        : challenge(request.url),
    )
    const outcome = await clientOf(seller)
      .fetch(url)
      .then((result) => result.payment.status)
      .catch((error: AssayError) => error.code)
    expect(['refused', 'no_acceptable_offer']).toContain(outcome)
    expect(seller.payments).toHaveLength(1)
  }
})

test('two authorizations of one purchase never exceed its maximum, whatever the seller says', async () => {
  const seller = createTestSeller((request) => ({ ...challenge(request.url), body: { code: 'payment_failed' } }))
  const { payment } = await clientOf(seller, { maxPerCallUsd: '0.0015' }).fetch(url)
  expect(payment.status).toBe('refused')
  expect(seller.payments).toHaveLength(1)
})

test('the total of a client is a hard limit, concurrent purchases included', async () => {
  const seller = createTestSeller(honest)
  const client = clientOf(seller, { maxTotalUsd: '0.003' })
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => client.fetch(url)))
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(3)
  expect(seller.payments).toHaveLength(3)
})

test('an unsigned or forged 402 is never paid', async () => {
  const unsigned = createTestSeller(honest, { signed: false })
  expect((await errorOf(clientOf(unsigned).fetch(url))).code).toBe('signature_missing')
  const forged = createTestSeller(honest, {
    tamper: (response) => {
      const required = challenge(url, {
        accepts: [{ ...honestOffer, payTo: '0x00000000000000000000000000000000000000E1' }],
      })
      response.headers.set('payment-required', required.headers?.['payment-required'] ?? '')
      return response
    },
  })
  expect((await errorOf(clientOf(forged).fetch(url))).code).toBe('signature_invalid')
  expect([...unsigned.payments, ...forged.payments]).toHaveLength(0)
})

test('a paid answer that was tampered with is not handed out as good', async () => {
  const seller = createTestSeller(honest, {
    tamper: (response) => (response.status === 200 ? new Response('{"echo":"evil"}', response) : response),
  })
  const error = await errorOf(clientOf(seller).fetch(url))
  expect(error.code).toBe('signature_invalid')
  expect(error.details.result).toMatchObject({ payment: { status: 'settled' }, verified: { status: 'invalid' } })
})

test('sellers that do not sign can be paid when the caller says so', async () => {
  const seller = createTestSeller(honest, { signed: false })
  const { payment, verified } = await clientOf(seller, { verify: 'report' }).fetch(url)
  expect(payment.status).toBe('settled')
  expect(verified.status).toBe('unsigned')
})

test('a settlement of another network or payer is not taken for ours', async () => {
  for (const change of [
    { network: 'eip155:1' },
    { payer: `0x${'01'.repeat(20)}` },
    { success: false },
    { transaction: '' },
  ]) {
    const seller = createTestSeller((request, payment) => (payment ? settled(change) : challenge(request.url)))
    const { payment } = await clientOf(seller).fetch(url)
    expect(payment.status, JSON.stringify(change)).toBe('unconfirmed')
  }
})

test('a day has its own maximum, and a clock that is set back does not open it again', async () => {
  const seller = createTestSeller(honest)
  let nowMs = Date.UTC(2026, 0, 2, 12)
  const platform = { ...seller.platform, nowMs: () => nowMs }
  const client = clientOf(seller, { platform, maxPerDayUsd: '0.002', verify: 'report' })
  await client.fetch(url)
  await client.fetch(url)
  expect((await errorOf(client.fetch(url))).code).toBe('budget_exhausted')
  nowMs -= 86_400_000
  expect((await errorOf(client.fetch(url))).code).toBe('budget_exhausted')
  nowMs += 2 * 86_400_000
  await client.fetch(url)
  expect(seller.payments.length).toBe(3)
})

test('only allowed payees are paid, whatever the seller writes', async () => {
  const seller = createTestSeller(honest)
  const refused = await errorOf(clientOf(seller, { payees: [`0x${'ab'.repeat(20)}`] }).fetch(url))
  expect(refused.code).toBe('no_acceptable_offer')
  expect(String(refused.details.detail)).toContain('payee not allowed')
  expect(seller.payments).toEqual([])
  await clientOf(seller, { payees: [honestOffer.payTo.toUpperCase().replace('0X', '0x')] }).fetch(url)
  expect(seller.payments.length).toBe(1)
})

test('a caller that wants to approve payments is asked with the quote, and after a no nothing is signed', async () => {
  const seller = createTestSeller(honest)
  const asked: string[] = []
  const confirm = (yes: boolean) => async (quote: { priceUsd: string; payTo: string }) => {
    asked.push(`${quote.priceUsd} to ${quote.payTo}`)
    return yes
  }
  expect((await errorOf(clientOf(seller, { confirm: confirm(false) }).fetch(url))).code).toBe('not_confirmed')
  expect(seller.payments).toEqual([])
  await clientOf(seller, { confirm: confirm(true) }).fetch(url)
  expect(seller.payments.length).toBe(1)
  expect(asked).toEqual([`0.001 to ${honestOffer.payTo}`, `0.001 to ${honestOffer.payTo}`])
})

/** Sends for as long as it is read; says how much that was. */
function endless(): { body: ReadableStream<Uint8Array>; sent: () => number } {
  let sent = 0
  const chunk = new Uint8Array(262_144).fill(32)
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      sent += chunk.byteLength
      controller.enqueue(chunk)
    },
  })
  return { body, sent: () => sent }
}

test('a 402 without end is left after a megabyte, and nothing is signed', async () => {
  const { body, sent } = endless()
  const seller = createTestSeller((request) => challenge(request.url), {
    tamper: (response) => new Response(body, { status: 402, headers: response.headers }),
  })
  expect((await errorOf(clientOf(seller).fetch(url))).code).toBe('answer_too_large')
  expect(sent()).toBeLessThan(4_000_000)
  expect(seller.payments).toEqual([])
})

test('a refusal without end after paying stops the tries and keeps the purchase', async () => {
  const seller = createTestSeller(
    (request, payment) => (payment ? { status: 503, body: {} } : challenge(request.url)),
    {
      tamper: (response) => (response.status === 503 ? new Response(endless().body, { status: 503 }) : response),
    },
  )
  const error = await errorOf(clientOf(seller).fetch(url))
  expect(error.code).toBe('answer_too_large')
  expect(error.details.purchase).toMatchObject({ amountMicro: '1000' })
  expect(seller.payments.length).toBe(1)
})

test('a payment can be signed for a program that sends it itself, within the same policy', async () => {
  const seller = createTestSeller(honest)
  const client = clientOf(seller, { maxTotalUsd: '0.0015', hosts: ['node.example'] })
  const { paymentHeader, amountMicro } = await client.sign(url)
  expect(amountMicro).toBe('1000')
  expect(seller.payments).toEqual([])
  const sent = await seller.platform.fetch(new Request(url, { headers: { 'payment-signature': paymentHeader } }))
  expect(sent.status).toBe(200)
  expect((await errorOf(client.sign(url))).code).toBe('budget_exhausted')
  expect((await errorOf(client.sign('https://node.example.evil/x'))).code).toBe('host_not_allowed')
  const free = clientOf(createTestSeller(() => ({ status: 200, body: {} })))
  expect((await errorOf(free.sign(url))).message).toContain('costs nothing')
})
