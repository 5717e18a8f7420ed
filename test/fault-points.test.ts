import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFaultPoints } from './harness/fault-points.ts'
import { expectSoundBooks, paymentRows, spentOnChain } from './harness/invariants.ts'
import { createTestShop } from './harness/test-shop.ts'
import { openTill, quote, send, signPayment, type TillFixture } from './harness/till-fixture.ts'

/**
 * Every port call that one purchase makes fails once, before its work and after it. Whatever happens, the buyer who obeys
 * our answers ends with its answer and is charged once, and a 402 is only ever seen when nothing moved.
 */
const points = createFaultPoints()
const path = '/test/small'
const priceMicro = 1_500n
let till: TillFixture
let url: string

beforeAll(async () => {
  // The node under fault runs no jobs of its own; a second one beside it recovers, as a second process would.
  till = await openTill({ ownShops: 'till', shops: [createTestShop().open] })
  const faulty = await till.startAnother({
    intercept: points.intercept,
    shops: [createTestShop().open],
    jobs: false,
    env: { BASE_URL: till.node.url },
  })
  url = `${faulty.address}${path}`
})
afterAll(async () => {
  await expectSoundBooks(till)
  await till.close()
})

async function purchase(
  at: number,
  when: 'before' | 'after',
): Promise<{ calls: readonly string[]; statuses: number[] }> {
  const buyer = await till.newBuyer()
  const offer = await quote(url)
  const nowSeconds = BigInt(Math.floor(Date.now() / 1000))
  const statuses: number[] = []
  points.plan(at, when)
  let payload = await signPayment(buyer, offer, { validBefore: nowSeconds + 14n })
  let calls: readonly string[] = []
  const deadline = Date.now() + 45_000
  for (let attempt = 0; statuses.at(-1) !== 200; attempt += 1) {
    if (Date.now() > deadline) throw new Error(`no answer after ${JSON.stringify(statuses)}`)
    const response = await send(url, payload)
    if (attempt === 0) calls = points.stop()
    const body = (await response.json()) as Record<string, unknown>
    statuses.push(response.status)
    if (response.status === 402)
      expect(await spentOnChain(till, 'base', buyer.address), 'a 402 means that nothing moved').toBe(0n)
    if (response.status === 200) break
    expect([402, 409, 503], JSON.stringify(body)).toContain(response.status)
    // A stock client cannot resend its payload: it signs anew.
    payload = await signPayment(buyer, offer)
    await till.base.control.mine(1)
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  const states = (await paymentRows(till))
    .filter((row) => row.payer === buyer.address.toLowerCase())
    .map((row) => row.state)
  expect(await spentOnChain(till, 'base', buyer.address), JSON.stringify({ statuses, states })).toBe(priceMicro)
  return { calls, statuses }
}

test('each port call of a purchase may fail once without a second charge or a lost answer', async () => {
  const { calls } = await purchase(Number.POSITIVE_INFINITY, 'before')
  expect(calls.length).toBeGreaterThan(8)
  const plans = calls.flatMap((_, index) => (['before', 'after'] as const).map((when) => ({ at: index + 1, when })))
  for (const plan of plans)
    await purchase(plan.at, plan.when).catch((error: unknown) => {
      throw new Error(`call ${plan.at} (${calls[plan.at - 1]}) failed ${plan.when}: ${String(error)}`)
    })
}, 400_000)
