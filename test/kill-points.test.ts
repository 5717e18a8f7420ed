import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChildNode, startChild } from './harness/child-process.ts'
import { expectSoundBooks, paymentRows, spentOnChain } from './harness/invariants.ts'
import { createTestShop } from './harness/test-shop.ts'
import { openTill, quote, send, signPayment, type TillFixture } from './harness/till-fixture.ts'

/**
 * A node in a process of its own is killed with SIGKILL before or after each of its port calls in the life of one
 * payment. Another process recovers. The buyer behaves as a stock client: it signs anew after 402 and after a broken
 * connection, and waits on 503. It must end with the answer, charged exactly once.
 *
 * `KILL_POINTS=all` kills before and after every call; the usual run kills before every other one and the settlement, and
 * `npm run kill-points` does so on every money path.
 */
const path = '/test/small'
const priceMicro = 1_500n
let till: TillFixture

beforeAll(async () => {
  till = await openTill({ ownShops: 'till', shops: [createTestShop().open] })
})
afterAll(() => till.close())

async function callsOfOnePurchase(): Promise<string[]> {
  const child = await startChild(till)
  const buyer = await till.newBuyer()
  const offer = await quote(`${child.url}${path}`)
  await child.arm()
  const response = await send(`${child.url}${path}`, await signPayment(buyer, offer))
  expect(response.status).toBe(200)
  await response.text()
  const seen = await child.seen()
  await child.stop()
  return seen
}

type Ending = { statuses: (number | 'broken')[]; states: string[] }

/** Buys until it has the answer, as an honest client that knows nothing but HTTP. */
async function buyThroughDeath(child: ChildNode, spare: string): Promise<Ending> {
  const buyer = await till.newBuyer()
  const offer = await quote(`${child.url}${path}`)
  const nowSeconds = BigInt(Math.floor(Date.now() / 1000))
  // Short-lived, so that an authorization that was never submitted can soon be seen to be over.
  const first = await signPayment(buyer, offer, { validBefore: nowSeconds + 14n })
  await child.arm()
  const statuses: Ending['statuses'] = []
  const attempt = async (target: string, payload: unknown) => {
    const status = await send(target, payload).then(
      async (response) => {
        const text = await response.text()
        if (response.status === 200) expect(text).toBe('{"ok":true}')
        return response.status
      },
      () => 'broken' as const,
    )
    statuses.push(status)
    return status
  }
  let last = await attempt(`${child.url}${path}`, first)
  expect(await child.ended).toBe('SIGKILL')
  const deadline = Date.now() + 60_000
  while (last !== 200) {
    if (Date.now() > deadline)
      throw new Error(`no answer: ${JSON.stringify(statuses)} ${JSON.stringify(await statesOf(buyer.address))}`)
    // The buyer's clock says the first authorization is over; the chain's must too.
    if (Date.now() / 1000 > Number(nowSeconds) + 16) await till.base.control.mine(1)
    last = await attempt(spare, await signPayment(buyer, offer))
    if (last !== 200) await new Promise((resolve) => setTimeout(resolve, 400))
  }
  expect(
    await spentOnChain(till, 'base', buyer.address),
    JSON.stringify({ statuses, rows: await statesOf(buyer.address) }),
  ).toBe(priceMicro)
  return { statuses, states: await statesOf(buyer.address) }
}

const statesOf = async (payer: string) =>
  (await paymentRows(till)).filter((row) => row.payer === payer.toLowerCase()).map((row) => row.state)

test('a process that dies at any step of a payment loses nothing and doubles nothing', async () => {
  const calls = await callsOfOnePurchase()
  const all = process.env['KILL_POINTS'] === 'all'
  const plans = calls.flatMap((call, index) => {
    if (all) return (['before', 'after'] as const).map((when) => ({ at: index + 1, when }))
    return index % 2 === 0 || call === 'facilitator settle' ? [{ at: index + 1, when: 'before' as const }] : []
  })
  expect(calls.length).toBeGreaterThan(8)
  expect(calls).toContain('facilitator settle')
  const spare = `${till.node.address}${path}`
  const queue = [...plans]
  const worker = async () => {
    for (let plan = queue.shift(); plan; plan = queue.shift()) {
      const child = await startChild(till, plan)
      await buyThroughDeath(child, spare).catch((error: unknown) => {
        throw new Error(`killed ${plan?.when} call ${plan?.at} (${calls[(plan?.at ?? 1) - 1]}): ${String(error)}`)
      })
    }
  }
  await Promise.all([worker(), worker(), worker()])
  await expectSoundBooks(till)
}, 600_000)
