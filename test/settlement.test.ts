import type { Hex } from 'viem'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Interceptors } from '../packages/node/src/compose/infrastructure.ts'
import { demoAccount } from '../packages/till/src/devnet/index.ts'
import type { Facilitator } from '../packages/till/src/index.ts'
import { Problem } from '../packages/till/src/kernel/problem.ts'
import { setPause } from '../packages/till/src/store/pauses.ts'
import { creditOf, spentOnChain, statesOf } from './harness/invariants.ts'
import { createTestShop, impossible } from './harness/test-shop.ts'
import { buy, quote, send, signPayment } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'
import { authorizationOf, cancelAuthorization, setPaused, submitAuthorization } from './harness/wallets.ts'

const shop = createTestShop()
/** Runs between our checks and the settlement, once. */
let beforeSettle: (() => Promise<unknown>) | undefined
let outage = false
/** The facilitator names another transaction than the one that carried the payment, as after raising its fee. */
let namesAnother = false
const interrupting = (facilitator: Facilitator): Facilitator => ({
  ...facilitator,
  settle: async (payment, signal) => {
    const work = beforeSettle
    beforeSettle = undefined
    await work?.()
    if (outage) return { status: 'refused', reason: 'facilitator_unreachable', payloadSent: false }
    const outcome = await facilitator.settle(payment, signal)
    return namesAnother && outcome.status === 'submitted' ? { ...outcome, transaction: payment.paymentKey } : outcome
  },
})

let reconcile = async () => {}
/** Books and chain are compared on request, so that no test waits for the next round. */
const reconcileByHand: Interceptors['job'] = (name, round) => {
  if (name !== 'payments.reconcile') return round
  reconcile = round
  return async () => {}
}

const till = useTill({
  ownShops: 'till',
  shops: [shop.open],
  intercept: { facilitator: interrupting, job: reconcileByHand },
})
beforeEach(() => {
  beforeSettle = undefined
  namesAnother = false
  shop.prepareFails = undefined
  shop.commitFails = undefined
})

const at = (path: string) => `${till.node.url}${path}`

test('an answer that cannot be made is never charged, and the same payment may try again', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  shop.prepareFails = new Problem('upstream_unavailable', { retryAfterSeconds: 5 })
  const refused = await send(at('/test/small'), payload)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('5')
  shop.prepareFails = new Error('a bug')
  expect((await send(at('/test/small'), payload)).status).toBe(500)
  expect(await statesOf(till, buyer.address)).toEqual(['released'])
  shop.prepareFails = undefined
  expect((await send(at('/test/small'), payload)).status).toBe(200)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
})

test('A36: an authorization that somebody else submitted after our claim is served once and never called failed', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  beforeSettle = () => submitAuthorization(till.base, payload)
  const response = await send(at('/test/small'), payload)
  expect(response.status).toBe(200)
  expect(await statesOf(till, buyer.address)).toEqual(['served'])
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
})

test('a payment that another transaction carried than the facilitator named is served, not given up at the deadline', async () => {
  namesAnother = true
  const buyer = await till.newBuyer()
  const response = await send(at('/test/small'), await signPayment(buyer, await quote(at('/test/small'))))
  expect(response.status).toBe(200)
  expect(await statesOf(till, buyer.address)).toEqual(['served'])
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
})

test('a nonce that was spent before our claim answers 409 and its money is the payer’s credit, once', async () => {
  // What came before the first comparison is part of what the books open with.
  await reconcile()
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  await submitAuthorization(till.base, payload)
  const preparedBefore = shop.prepared
  for (let i = 0; i < 3; i += 1) {
    const response = await send(at('/test/small'), payload)
    expect(response.status).toBe(409)
    expect(await response.json()).toMatchObject({ code: 'payment_credited' })
  }
  expect(shop.prepared).toBe(preparedBefore)
  await until('the money is credit', async () => {
    await reconcile()
    return (await creditOf(till, buyer.address)) === 1_500n
  })
  expect((await send(at('/test/small'), payload)).status).toBe(409)
  expect(await creditOf(till, buyer.address)).toBe(1_500n)
})

test('an authorization too short for us, that somebody submitted to the chain, is not answered with 402', async () => {
  const buyer = await till.newBuyer()
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + 10)
  const payload = await signPayment(buyer, await quote(at('/test/small')), { validBefore })
  expect((await send(at('/test/small'), payload)).status).toBe(402)
  await submitAuthorization(till.base, payload)
  const response = await send(at('/test/small'), payload)
  expect(response.status).toBe(409)
  expect(await response.json()).toMatchObject({ code: 'payment_credited' })
})

test('a payment whose process died before sending it is settled when the same payment comes again', async () => {
  const buyer = await till.newBuyer()
  const dying = await till.startAnother({
    shops: [createTestShop().open],
    jobs: false,
    env: { BASE_URL: till.node.url },
    intercept: { facilitator: (real) => ({ ...real, settle: () => new Promise<never>(() => {}) }) },
  })
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  const hangUp = new AbortController()
  const lost = send(`${dying.address}/test/small`, payload, { signal: hangUp.signal }).catch(() => undefined)
  await vi.waitFor(async () => expect(await statesOf(till, buyer.address)).toEqual(['settling']), { timeout: 20_000 })
  // Its process is gone: the database says so, and recovery takes the payment away from it.
  await till.db.owner.query(
    `update payment_owner set dead_at = now() where owner = (select owner from payment where payer = $1)`,
    [buyer.address.toLowerCase()],
  )
  await vi.waitFor(async () => expect(await statesOf(till, buyer.address)).toEqual(['unknown']), { timeout: 20_000 })
  const response = await send(at('/test/small'), payload)
  expect([response.status, await response.text()]).toEqual([200, '{"ok":true}'])
  expect(await statesOf(till, buyer.address)).toEqual(['served'])
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
  hangUp.abort()
  await lost
})

/** A process that starts resumes what is left behind. */
async function recover(): Promise<void> {
  const other = await till.startAnother({ jobs: true, shops: [shop.open] })
  await other.stop()
}

test('A35: a payer that cancels between check and settlement gets 503 until that is final, then 402', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  beforeSettle = () => cancelAuthorization(till.base, buyer, authorizationOf(payload).authorization.nonce)
  till.base.control.setFinalityLag(2)
  expect((await send(at('/test/small'), payload)).status).toBe(503)
  expect(await statesOf(till, buyer.address)).toEqual(['unknown'])
  till.base.control.setFinalityLag(0)
  await recover()
  expect(await statesOf(till, buyer.address)).toEqual(['failed'])
  expect((await send(at('/test/small'), payload)).status).toBe(402)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(0n)
  const { rows } = await till.db.owner.query<{ failures: number }>(
    `select failures from settlement_loss where scope = 'payer' and key = $1`,
    [buyer.address.toLowerCase()],
  )
  expect(rows).toEqual([{ failures: 1 }])
})

test('A34: a balance that moved away after the check answers 402, and nothing is committed', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  const committedBefore = shop.committed.length
  beforeSettle = async () => {
    const other = await signPayment(buyer, await quote(at('/test/small')), {
      value: 10_000_000n,
      to: demoAccount('creator').address,
    })
    await submitAuthorization(till.base, other)
  }
  const response = await send(at('/test/small'), payload)
  expect(response.status).toBe(402)
  expect(await response.json()).toMatchObject({ code: 'payment_failed' })
  expect(shop.committed.length).toBe(committedBefore)
})

test('A56: a paused dollar answers 402 with a reason, and nothing is lost', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  beforeSettle = async () => {
    await setPaused(till.base, true)
  }
  const response = await send(at('/test/small'), payload)
  await setPaused(till.base, false)
  expect(response.status).toBe(402)
  expect(await response.json()).toMatchObject({ reason: expect.any(String), hint: expect.any(String) })
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(0n)
})

test('a facilitator that cannot be used answers 503, takes nothing, and the same payment works later', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  outage = true
  const down = await send(at('/test/small'), payload)
  outage = false
  expect(down.status).toBe(503)
  expect(await down.json()).toMatchObject({ code: 'settlement_unavailable' })
  expect(await statesOf(till, buyer.address)).toEqual(['released'])
  expect((await send(at('/test/small'), payload)).status).toBe(200)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
})

test('a sale that becomes impossible after it was paid is credited, and the buyer learns where', async () => {
  const buyer = await till.newBuyer()
  shop.commitFails = impossible()
  const response = await buy(buyer, at('/test/small'))
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({
    code: 'refund_due',
    status_url: expect.stringContaining('/v1/payments/'),
  })
  expect(await statesOf(till, buyer.address)).toEqual(['credited'])
  expect(await creditOf(till, buyer.address)).toBe(1_500n)
})

test('sale hooks and the effect see our own facts: route, price, payer, reservation', async () => {
  const buyer = await till.newBuyer()
  expect((await buy(buyer, at('/test/small'))).status).toBe(200)
  const sale = shop.committed.at(-1)
  expect(sale).toMatchObject({
    routeId: 'test.small',
    amountMicro: 1_500n,
    payer: buyer.address.toLowerCase(),
    reservation: { seat: expect.any(Number) },
  })
  expect(shop.hooked.some((hooked) => hooked.paymentId === sale?.paymentId)).toBe(true)
})

test('above 1 USDC, what cannot be revoked waits for finality', async () => {
  const buyer = await till.newBuyer()
  till.base.control.setFinalityLag(3)
  await till.base.control.mine(1)
  const payload = await signPayment(buyer, await quote(at('/test/large')), { identifier: 'waits-for-finality-1' })
  const early = await send(at('/test/large'), payload)
  expect(early.status).toBe(503)
  expect(await statesOf(till, buyer.address)).toEqual(['settled'])
  till.base.control.setFinalityLag(0)
  await until('served', async () => (await statesOf(till, buyer.address))[0] === 'served')
  expect((await send(at('/test/large'), payload)).status).toBe(200)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(2_000_000n)
})

test('above 1 USDC, what can be revoked is granted at once as provisional', async () => {
  const buyer = await till.newBuyer()
  till.base.control.setFinalityLag(3)
  await till.base.control.mine(1)
  expect((await buy(buyer, at('/test/subscription'))).status).toBe(200)
  expect(shop.committed.at(-1)).toMatchObject({ routeId: 'test.subscription', provisional: true })
  till.base.control.setFinalityLag(0)
  await till.base.control.mine(4)
})

test('A42: a reorg that drops the payment reverses it, revokes what it bought and raises an alarm', async () => {
  const buyer = await till.newBuyer()
  till.base.control.setFinalityLag(10)
  await till.base.control.mine(1)
  expect((await buy(buyer, at('/test/subscription'))).status).toBe(200)
  const paymentId = shop.committed.at(-1)?.paymentId
  const transaction = shop.committed.at(-1)?.transaction as Hex
  await till.base.control.mine(2)
  // Nothing is mined until it was seen to be gone: our own transaction is sent again and would land at once.
  await till.base.control.holdMining()
  await till.base.control.reorg(3, { drop: [transaction] })
  till.base.control.setFinalityLag(0)
  const postings = async () => {
    const { rows } = await till.db.owner.query<{ kind: string }>(
      `select kind from ledger_transaction where payment_id = $1 and kind in ('sale','reorg') order by kind`,
      [paymentId],
    )
    return rows.map((row) => row.kind).join()
  }
  await until('reversed', async () => (await postings()) === 'reorg,sale')
  expect(shop.revoked.some((sale) => sale.paymentId === paymentId)).toBe(true)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(0n)
  await till.base.control.releaseMining()
})

test('a price we signed is honoured after it rose, until the offer runs out; without the offer it is not', async () => {
  const buyer = await till.newBuyer()
  shop.priceMicro = 2_000n
  const offer = await quote(at('/test/priced'))
  shop.priceMicro = 5_000n
  const bare = await signPayment(buyer, offer)
  expect((await send(at('/test/priced'), bare)).status).toBe(402)
  const echoed = await signPayment(buyer, offer, { extensions: { 'offer-receipt': offer.extensions['offer-receipt'] } })
  expect((await send(at('/test/priced'), echoed)).status).toBe(200)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(2_000n)
  // The offer of one resource is no offer for another.
  const elsewhere = await signPayment(
    buyer,
    { ...offer, resource: { url: `${at('/test/priced')}` } },
    { extensions: { 'offer-receipt': offer.extensions['offer-receipt'] }, value: 1n, accepted: { amount: '1' } },
  )
  expect((await send(at('/test/priced'), elsewhere)).status).toBe(402)
})

test('the switch `paid` stops payments before anything is taken', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(at('/test/small')))
  await setPause(till.db.owner, { name: 'sales', paused: true, reason: 'test', by: 'test' })
  await until('paused', async () => (await fetch(at('/test/small'))).status === 503)
  expect((await send(at('/test/small'), payload)).status).toBe(503)
  await setPause(till.db.owner, { name: 'sales', paused: false, reason: 'test', by: 'test' })
  await until('sold again', async () => (await send(at('/test/small'), payload)).status === 200)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
})

test('a pass opens what it covers, once; elsewhere it is 402, unknown it is 401, and failures give it back', async () => {
  shop.passes.set('abc', '0x2222222222222222222222222222222222222222')
  const withPass = (path: string, pass: string) => fetch(at(path), { headers: { authorization: `Pass ${pass}` } })
  expect((await withPass('/test/small', 'unknown')).status).toBe(401)
  const elsewhere = await withPass('/test/large', 'abc')
  expect(elsewhere.status).toBe(402)
  expect(elsewhere.headers.get('payment-required')).toBeTruthy()
  shop.prepareFails = new Problem('upstream_unavailable')
  expect((await withPass('/test/small', 'abc')).status).toBe(503)
  expect(shop.held.get('abc')).toBe('released')
  shop.prepareFails = undefined
  const responses = await Promise.all(Array.from({ length: 20 }, () => withPass('/test/small', 'abc')))
  expect(responses.filter((response) => response.status === 200)).toHaveLength(1)
  expect(shop.held.get('abc')).toBe('captured')
})

test('I7: an effect that keeps failing for a minute is credited with an alarm, not left hanging', async () => {
  const buyer = await till.newBuyer()
  shop.commitFails = new Error('a bug in the effect')
  const response = await buy(buyer, at('/test/small'))
  expect(response.status).toBe(503)
  await till.db.owner.query(`update payment set claimed_at = claimed_at - interval '2 minutes' where payer = $1`, [
    buyer.address.toLowerCase(),
  ])
  await until('credited', async () => (await statesOf(till, buyer.address))[0] === 'credited')
  expect(await creditOf(till, buyer.address)).toBe(1_500n)
})
