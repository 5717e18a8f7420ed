import { afterEach, expect, test } from 'vitest'
import type { Facilitator } from '../packages/till/src/index.ts'
import { type Clock, systemClock } from '../packages/till/src/kernel/clock.ts'
import { spentOnChain, statesOf } from './harness/invariants.ts'
import { createTestShop } from './harness/test-shop.ts'
import { quote, send, signPayment } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'
import { submitAuthorization } from './harness/wallets.ts'

/** 402 asks a client to pay again, so it may never answer an authorization that has already paid us. */
const shop = createTestShop()
let aheadMs = 0
let answer: 'truth' | 'unknown' | 'refused' = 'truth'
const clock: Clock = { ...systemClock, nowMs: () => Date.now() + aheadMs }
const faulty = (facilitator: Facilitator): Facilitator => ({
  ...facilitator,
  settle: async (payment, signal) => {
    if (answer === 'unknown') return { status: 'unknown', reason: 'settlement_pending' }
    if (answer === 'refused') return { status: 'refused', reason: 'insufficient_funds', payloadSent: true }
    return facilitator.settle(payment, signal)
  },
})

const till = useTill({ ownShops: 'till', shops: [shop.open], intercept: { facilitator: faulty }, clock })
afterEach(() => {
  aheadMs = 0
  answer = 'truth'
})

const at = (path: string) => `${till.node.url}${path}`
test('a paid authorization that is sent again after its time answers 409, or the stored answer with its identifier', async () => {
  const buyer = await till.newBuyer()
  const offer = await quote(at('/test/small'))
  const plain = await signPayment(buyer, offer)
  const named = await signPayment(buyer, offer, { identifier: 'purchase_000000000001' })
  expect((await send(at('/test/small'), plain)).status).toBe(200)
  expect((await send(at('/test/small'), named)).status).toBe(200)
  aheadMs = 150_000
  const late = await send(at('/test/small'), plain)
  expect(late.status).toBe(409)
  expect(late.headers.get('payment-required')).toBeNull()
  const again = await send(at('/test/small'), named)
  expect(again.status).toBe(200)
  expect(await again.json()).toEqual({ ok: true })
  aheadMs = 0
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(3_000n)
})

test('an authorization whose outcome is unknown stays 503 after its time, until the chain has spoken', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  answer = 'unknown'
  expect((await send(at('/test/small'), payload)).status).toBe(503)
  answer = 'truth'
  expect(await statesOf(till, buyer.address)).toEqual(['unknown'])
  aheadMs = 150_000
  const late = await send(at('/test/small'), payload)
  aheadMs = 0
  expect(late.status).toBe(503)
  expect(await late.json()).toMatchObject({ code: 'settlement_unknown' })
})

test('a paid authorization that is sent again after the price moved answers 409 and not a new price', async () => {
  const buyer = await till.newBuyer()
  shop.priceMicro = 2_000n
  const payload = await signPayment(buyer, await quote(at('/test/priced')))
  expect((await send(at('/test/priced'), payload)).status).toBe(200)
  shop.priceMicro = 5_000n
  const again = await send(at('/test/priced'), payload)
  shop.priceMicro = 2_000n
  expect(again.status).toBe(409)
})

test('an expired authorization that never paid is still 402, and a stranger’s signature learns nothing', async () => {
  const buyer = await till.newBuyer()
  const offer = await quote(at('/test/small'))
  const unused = await signPayment(buyer, offer)
  const paid = await signPayment(buyer, offer)
  expect((await send(at('/test/small'), paid)).status).toBe(200)
  aheadMs = 150_000
  const forged = { ...paid, payload: { ...paid.payload, signature: `0x${'11'.repeat(65)}` } }
  expect((await send(at('/test/small'), unused)).status).toBe(402)
  expect((await send(at('/test/small'), forged)).status).toBe(402)
  aheadMs = 0
})

test('a refused authorization that somebody submitted to the chain after all is never answered 402 again', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  answer = 'refused'
  // The facilitator has the payload and may carry it: our own simulation would pass.
  const refused = await send(at('/test/small'), payload)
  expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'settlement_unknown' }])
  answer = 'truth'
  await submitAuthorization(till.base, payload)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
  const other = await till.startAnother({ jobs: true, shops: [shop.open] })
  await other.stop()
  // It was submitted while its claim was active, so it paid for what was asked.
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
  const again = await send(at('/test/small'), payload)
  expect([again.status, await again.json()]).toMatchObject([409, { code: 'payment_used' }])
})
