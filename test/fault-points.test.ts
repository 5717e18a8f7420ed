import { beforeAll, expect, test } from 'vitest'
import { createFaultPoints, type FaultPoints } from './harness/fault-points.ts'
import { paymentRows, spentOnChain } from './harness/invariants.ts'
import { createTestShop } from './harness/test-shop.ts'
import { quote, send, signPayment } from './harness/till-fixture.ts'
import { together, until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

/**
 * Every port call that one purchase makes fails once, before its work and after it. Whatever happens, the buyer who obeys
 * our answers ends with its answer and is charged once, and a 402 is only ever seen when nothing moved.
 */
const path = '/test/small'
const priceMicro = 1_500n
/** What one waits for, an authorization that must expire, another does not. */
const nodesAtOnce = 4
type Faulty = { points: FaultPoints; url: string }
let nodes: Faulty[]

const till = useTill({ ownShops: 'till', shops: [createTestShop().open] })
beforeAll(async () => {
  nodes = await Promise.all(Array.from({ length: nodesAtOnce }, startFaulty))
})

/** A node under fault runs no jobs itself; the one beside it recovers, as a second process would. */
async function startFaulty(): Promise<Faulty> {
  const points = createFaultPoints()
  const { address } = await till.startAnother({
    intercept: points.intercept,
    shops: [createTestShop().open],
    jobs: false,
    env: { BASE_URL: till.node.url },
  })
  return { points, url: `${address}${path}` }
}

async function purchase(
  { points, url }: Faulty,
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
  const attempt = async () => {
    const response = await send(url, payload)
    if (statuses.length === 0) calls = points.stop()
    const body = (await response.json()) as Record<string, unknown>
    statuses.push(response.status)
    if (response.status === 402)
      expect(await spentOnChain(till, 'base', buyer.address), 'a 402 means that nothing moved').toBe(0n)
    if (response.status === 200) return true
    expect([402, 409, 503], JSON.stringify(body)).toContain(response.status)
    // A stock client cannot resend its payload: it signs again.
    payload = await signPayment(buyer, offer)
    await till.base.control.mine(1)
    return false
  }
  await until('the buyer has its answer', attempt, { withinMs: 45_000 }).catch((error: unknown) => {
    throw new Error(`${String(error)}, after ${JSON.stringify(statuses)}`)
  })
  const states = (await paymentRows(till))
    .filter((row) => row.payer === buyer.address.toLowerCase())
    .map((row) => row.state)
  expect(await spentOnChain(till, 'base', buyer.address), JSON.stringify({ statuses, states })).toBe(priceMicro)
  return { calls, statuses }
}

test('each port call of a purchase may fail once without a second charge or a lost answer', async () => {
  const { calls } = await purchase(nodes[0] as Faulty, Number.POSITIVE_INFINITY, 'before')
  expect(calls.length).toBeGreaterThan(8)
  const plans = calls.flatMap((_, index) => (['before', 'after'] as const).map((when) => ({ at: index + 1, when })))
  await together(plans.length, nodesAtOnce, async (index, worker) => {
    const { at, when } = plans[index] as (typeof plans)[number]
    await purchase(nodes[worker] as Faulty, at, when).catch((error: unknown) => {
      throw new Error(`call ${at} (${calls[at - 1]}) failed ${when}: ${String(error)}`)
    })
  })
}, 400_000)
