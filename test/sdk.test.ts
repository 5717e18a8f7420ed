import type { PrivateKeyAccount } from 'viem/accounts'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AssayClientOptions,
  AssayError,
  createAssayClient,
  fetchDirectory,
  openSession,
  type PayableNetwork,
  type Progress,
  packEvidence,
  parseEvidence,
  readDemo,
  verifyEvidence,
} from '../packages/sdk/src/index.ts'
import type { Facilitator } from '../packages/till/src/index.ts'
import { freePort } from '../packages/till/src/store/embedded/free-port.ts'
import { setPause } from '../packages/till/src/store/pauses.ts'
import { type CuttingProxy, openCuttingProxy } from './harness/cutting-proxy.ts'
import { expectSoundBooks, paymentRows, spentOnChain } from './harness/invariants.ts'
import { postJson } from './harness/post-json.ts'
import { echoPath, openTill, type TillFixture } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'

let till: TillFixture
let proxy: CuttingProxy
let networks: PayableNetwork[]
/** Set: the next settlement is reported as unknown, and executed once that is recorded. */
let settleLate = false

const lateFacilitator = (facilitator: Facilitator): Facilitator => ({
  ...facilitator,
  settle: async (payment, signal) => {
    if (!settleLate) return facilitator.settle(payment, signal)
    settleLate = false
    const isUnknown = async () => (await paymentRows(till)).some(({ state }) => state === 'unknown')
    void until('the payment is unknown', isUnknown)
      .then(() => facilitator.settle(payment, new AbortController().signal))
      .catch(() => {})
    return { status: 'unknown', reason: 'timeout' }
  },
})

// The node is reached through the proxy, under the proxy's name: clients see nothing but one address.
beforeAll(async () => {
  const port = await freePort()
  proxy = await openCuttingProxy(port)
  till = await openTill({
    ownShops: 'till',
    env: { PORT: String(port), BASE_URL: proxy.url },
    intercept: { facilitator: lateFacilitator },
  })
  networks = (await readDemo(proxy.url)).networks
})
afterAll(async () => {
  await expectSoundBooks(till)
  await till.close()
  await proxy.close()
})

/** Waits are shortened: how long the client would wait is tested where time is a fake. */
const shortened = { sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.min(ms, 200))) }

function clientOf(account: PrivateKeyAccount, options: Partial<AssayClientOptions> = {}) {
  return createAssayClient({
    account,
    baseUrl: proxy.url,
    maxPerCallUsd: '0.01',
    networks,
    platform: shortened,
    ...options,
  })
}

const isPaid = (request: string) => /^payment-signature:/im.test(request)
const rowsOf = async (account: PrivateKeyAccount) =>
  (await paymentRows(till)).filter((row) => row.payer === account.address.toLowerCase())

test.each([
  ['eip155:8453', 'base'],
  ['eip155:137', 'polygon'],
] as const)('a purchase on %s is bound, settled, verified and receipted', async (network, chain) => {
  const buyer = await till.newBuyer()
  const client = clientOf(buyer, { networks: networks.filter((known) => known.network === network) })
  const { response, payment, verified, receipt, purchase } = await client.fetch(`${echoPath}?message=a%20b`)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ echo: 'a b', paid_by: buyer.address })
  expect(payment).toMatchObject({ status: 'settled', network, amountMicro: '1000' })
  expect(verified.status).toBe('verified')
  expect(receipt).toMatchObject({ status: 'verified', receipt: { network, resourceUrl: purchase?.resource } })
  // The node refuses a tagged nonce that does not fit the request, so this one did.
  expect(purchase?.nonce.startsWith('0xc58a6b3fcadba6a9')).toBe(true)
  expect(await spentOnChain(till, chain, buyer.address)).toBe(1000n)
})

test('a POST is paid for with its body', async () => {
  const buyer = await till.newBuyer()
  const init = postJson({ message: 'with a body' })
  const { response, verified } = await clientOf(buyer).fetch(echoPath, init)
  expect(await response.json()).toMatchObject({ echo: 'with a body' })
  expect(verified.status).toBe('verified')
})

test('an answer lost on its way is given again: one payment, one charge', async () => {
  const buyer = await till.newBuyer()
  const before = proxy.cutCount()
  proxy.cut(1, isPaid)
  const waits: Progress[] = []
  const { response, payment } = await clientOf(buyer, { onProgress: (event) => waits.push(event) }).fetch(
    `${echoPath}?message=lost`,
  )
  expect(proxy.cutCount()).toBe(before + 1)
  expect(await response.json()).toMatchObject({ echo: 'lost' })
  expect(payment.status).toBe('settled')
  expect(waits.filter((event) => event.kind === 'waiting').length).toBeGreaterThan(0)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
  expect(await rowsOf(buyer)).toMatchObject([{ state: 'served' }])
})

test('a purchase that was given up is resumed later, from plain data, without paying again', async () => {
  const buyer = await till.newBuyer()
  proxy.cut(1, isPaid)
  const error = await clientOf(buyer, { deadlineMs: 1 })
    .fetch(`${echoPath}?message=later`)
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(AssayError)
  expect((error as AssayError).code).toBe('payment_outcome_unknown')
  const kept = JSON.parse(JSON.stringify((error as AssayError).details.purchase))
  const { response } = await clientOf(buyer).fetch(`${echoPath}?message=later`, {}, { purchase: kept })
  expect(await response.json()).toMatchObject({ echo: 'later' })
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
})

test('a settlement that takes its time is waited for with the same payment', async () => {
  const buyer = await till.newBuyer()
  settleLate = true
  const events: Progress[] = []
  const { payment } = await clientOf(buyer, { onProgress: (event) => events.push(event) }).fetch(
    `${echoPath}?message=slow`,
  )
  expect(payment.status).toBe('settled')
  const [wait] = events.filter((event) => event.kind === 'waiting')
  expect(wait).toMatchObject({ status: 503, code: 'settlement_unknown' })
  expect(wait?.statusUrl).toMatch(/\/v1\/payments\/pay_/)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
  expect(await rowsOf(buyer)).toHaveLength(1)
})

test('nothing is signed above the maximum, beyond the budget, for another host or under other terms', async () => {
  const buyer = await till.newBuyer()
  const url = `${proxy.url}${echoPath}?message=policy`
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'paid',
      (error: AssayError) => error.code,
    )
  expect(await codeOf(clientOf(buyer, { maxPerCallUsd: '0.0009' }).fetch(url))).toBe('price_above_maximum')
  expect(await codeOf(clientOf(buyer, { hosts: ['shop.example'] }).fetch(url))).toBe('host_not_allowed')
  const priced = await clientOf(buyer).quote(url)
  if (priced.status !== 'priced') throw new Error('it is sold')
  const { quote } = priced
  const agreed = { ...quote, amountMicro: '999' }
  expect(await codeOf(clientOf(buyer).fetch(url, {}, { agreed }))).toBe('terms_moved')
  expect(await rowsOf(buyer)).toHaveLength(0)

  const frugal = clientOf(buyer, { maxTotalUsd: '0.001' })
  expect(await codeOf(frugal.fetch(url, {}, { agreed: quote }))).toBe('paid')
  expect(await codeOf(frugal.fetch(`${url}2`))).toBe('budget_exhausted')
  expect(await rowsOf(buyer)).toHaveLength(1)
})

test('a quote says what it would cost and signs nothing, even above the maximum', async () => {
  const buyer = await till.newBuyer()
  const priced = await clientOf(buyer, { maxPerCallUsd: '0' }).quote(`${echoPath}?message=quote`)
  expect(priced).toMatchObject({ quote: { priceUsd: '0.001', network: 'eip155:8453', bound: true } })
  const free = await clientOf(buyer).quote('/livez')
  expect(free).toMatchObject({ status: 'answered', result: { payment: { status: 'none' } } })
  expect(await rowsOf(buyer)).toHaveLength(0)
})

test('an answer is kept as evidence that verifies offline and shows every change', async () => {
  const buyer = await till.newBuyer()
  const url = `${proxy.url}${echoPath}?message=kept&ref=${buyer.address}`
  const client = clientOf(buyer)
  const result = await client.fetch(url)
  const request = { method: 'GET', url, contentType: null, body: new Uint8Array() }
  const packed = await packEvidence({ request, result, directory: client.keyDirectory(proxy.url), nowMs: Date.now() })
  const evidence = parseEvidence(JSON.parse(JSON.stringify(packed)))
  if (evidence === undefined) throw new Error('it is evidence')
  expect(JSON.stringify(evidence)).not.toContain(result.purchase?.id)

  const alone = await verifyEvidence(evidence)
  expect(alone.ok).toBe(true)
  const statusOf = Object.fromEntries(alone.checks.map(({ name, status }) => [name, status]))
  expect(statusOf).toMatchObject({ signature: 'passed', receipt: 'passed', binding: 'passed', keys: 'not_checked' })
  const published = await verifyEvidence(evidence, { trustedDirectory: await fetchDirectory(proxy.url) })
  expect(published.checks.find(({ name }) => name === 'keys')?.status).toBe('passed')

  const { payment, request: sent, response } = evidence
  if (!payment || !sent || !response) throw new Error('it was paid')
  const changed = [
    { ...evidence, response: { ...response, body_base64: btoa('{"echo":"other"}') } },
    { ...evidence, response: { ...response, status: 201 } },
    { ...evidence, request: { ...sent, url: url.replace('kept', 'swapped') } },
    { ...evidence, receipt: evidence.receipt?.replace(/.{8}$/, 'AAAAAAAA') ?? null },
    { ...evidence, payment: { ...payment, authorization: { ...payment.authorization, value: '1' } } },
    { ...evidence, payment: { ...payment, binding_salt: `0x${'00'.repeat(32)}` as const } },
    { ...evidence, keys: { ...evidence.keys, directory: { keys: [] } } },
  ]
  for (const [index, altered] of changed.entries())
    expect((await verifyEvidence(altered)).ok, `change ${index}`).toBe(false)
})

test('signing in at a node gives a session of the account', async () => {
  const account = privateKeyToAccount(`0x${'0e'.repeat(32)}`)
  const session = await openSession({ origin: proxy.url, account })
  expect(session.did).toBe(`did:pkh:eip155:8453:${account.address.toLowerCase()}`)
  const response = await fetch(`${proxy.url}/v1/auth/session`, {
    headers: { authorization: `Bearer ${session.token}` },
  })
  expect(await response.json()).toEqual({ did: session.did })
})

test('while payments are switched off nothing is taken, and the same purchase goes through afterwards', async () => {
  const buyer = await till.newBuyer()
  const url = `${echoPath}?message=off`
  const change = { name: 'sales', by: 'test', reason: 'test' } as const
  // Between the quote and the payment; the node knows of it within a second.
  const pauseSales = async () => {
    await setPause(till.db.owner, { ...change, paused: true })
    await expect.poll(async () => (await fetch(`${proxy.url}${url}`)).status, { timeout: 10_000 }).toBe(503)
    return true
  }
  const error = await clientOf(buyer, { deadlineMs: 600, confirm: pauseSales })
    .fetch(url)
    .catch((thrown: unknown) => thrown)
    .finally(() => setPause(till.db.owner, { ...change, paused: false }))
  expect(error).toBeInstanceOf(AssayError)
  const { code, details } = error as AssayError
  expect(code).toBe('payment_not_taken')
  expect(await rowsOf(buyer)).toHaveLength(0)
  const { response } = await clientOf(buyer).fetch(url, {}, { purchase: details.purchase as never })
  expect(await response.json()).toMatchObject({ echo: 'off' })
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
})
