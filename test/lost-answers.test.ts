import { connect } from 'node:net'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Facilitator } from '../packages/till/src/index.ts'
import { paymentRows, spentOnChain, statesOf } from './harness/invariants.ts'
import { buy, echoPath, encodePayload, quote, send, signPayment } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

/** A facilitator whose delays and replies can be set. */
type FacilitatorFault = { until: Promise<void> | undefined; after: 'truth' | 'throw' | 'unknown' | 'refused' }

let url: string
let fault: FacilitatorFault
const faulty = (facilitator: Facilitator): Facilitator => ({
  ...facilitator,
  settle: async (payment, signal) => {
    const { until, after } = fault
    await until
    const outcome = await facilitator.settle(payment, signal)
    if (after === 'throw') throw new Error('connection reset')
    if (after === 'unknown') return { status: 'unknown', reason: 'settlement_pending' }
    if (after === 'refused') return { status: 'refused', reason: 'unexpected_settle_error', payloadSent: true }
    return outcome
  },
})

const till = useTill({ ownShops: 'till', intercept: { facilitator: faulty } })
beforeAll(async () => {
  url = `${till.node.url}${echoPath}`
})
beforeEach(() => {
  fault = { until: undefined, after: 'truth' }
})

/** Sends a request over a bare socket and breaks the connection when it is time, without reading the answer. */
function sendAndHangUp(target: string, header: string, isTime: () => Promise<void>): Promise<void> {
  const { hostname, port, pathname, search, host } = new URL(target)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nPAYMENT-SIGNATURE: ${header}\r\n\r\n`)
      isTime()
        .finally(() => socket.destroy())
        .then(resolve, reject)
    })
    socket.on('error', reject)
  })
}

const untilState = (payer: string, state: string) =>
  until(`a payment of ${payer} is ${state}`, async () =>
    (await paymentRows(till)).some((row) => row.payer === payer.toLowerCase() && row.state === state),
  )

async function untilDelivered(payer: string): Promise<void> {
  await expect
    .poll(async () => {
      const { rows } = await till.db.owner.query<{ n: bigint }>(
        "select count(*) as n from payment where payer = $1 and state = 'served' and delivered_at is null",
        [payer.toLowerCase()],
      )
      return rows[0]?.n
    })
    .toBe(0n)
}

test('a client that hangs up while its payment settles pays once: its next try gets the answer', async () => {
  const buyer = await till.newBuyer()
  const target = `${url}?message=lost`
  const offer = await quote(target)
  let goOn = () => {}
  fault.until = new Promise((resolve) => {
    goOn = resolve
  })
  const header = encodePayload(await signPayment(buyer, offer))
  await sendAndHangUp(target, header, async () => {
    await untilState(buyer.address, 'settling')
  })
  // Before the node has noticed, a fresh authorization is another purchase.
  await until('the node noticed that the client is gone', async () => {
    const { rows } = await till.db.owner.query('select from payment where payer = $1 and client_gone', [
      buyer.address.toLowerCase(),
    ])
    return rows.length === 1
  })
  const early = await send(target, await signPayment(buyer, offer))
  expect(early.status).toBe(503)
  expect(await early.json()).toMatchObject({
    code: 'settlement_unknown',
    status_url: expect.stringContaining('/v1/payments/pay_'),
  })
  fault.until = undefined
  goOn()
  await untilState(buyer.address, 'served')
  const fresh = await signPayment(buyer, offer)
  const retried = await send(target, fresh)
  expect(retried.status).toBe(200)
  expect(await retried.json()).toMatchObject({ echo: 'lost' })
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
  // It was delivered, which is noted behind the answer: the next purchase is a purchase again.
  await untilDelivered(buyer.address)
  // But the one that asked for the answer is never settled: a client that did not get it sends the same once more.
  const copy = await send(target, fresh)
  expect([copy.status, await copy.json()]).toMatchObject([
    409,
    { code: 'payment_used', detail: expect.stringContaining('earlier payment') },
  ])
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
  expect((await buy(buyer, target)).status).toBe(200)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(2000n)
})

test('a client that names its purchase gets the lost answer with a fresh authorization, as often as it sends that', async () => {
  const buyer = await till.newBuyer()
  const target = `${url}?message=named`
  const offer = await quote(target)
  const identifier = 'lost-purchase-0001'
  let goOn = () => {}
  fault.until = new Promise((resolve) => {
    goOn = resolve
  })
  const header = encodePayload(await signPayment(buyer, offer, { identifier }))
  await sendAndHangUp(target, header, () => untilState(buyer.address, 'settling').then(() => undefined))
  fault.until = undefined
  goOn()
  await untilState(buyer.address, 'served')
  const fresh = await signPayment(buyer, offer, { identifier })
  for (const copy of [1, 2, 3]) {
    const answer = await send(target, fresh)
    expect([answer.status, await answer.json()], `copy ${copy}`).toMatchObject([200, { echo: 'named' }])
    await untilDelivered(buyer.address)
  }
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
})

test('a client that is gone before the settlement is not charged at all', async () => {
  const buyer = await till.newBuyer()
  const { rows } = await till.db.owner.query<{ n: bigint }>('select count(*) as n from payment')
  expect(rows[0]?.n).toBeGreaterThanOrEqual(0n)
  const offer = await quote(url)
  const payload = encodePayload(await signPayment(buyer, offer))
  await sendAndHangUp(url, payload, () => new Promise((resolve) => setTimeout(resolve)))
  // A later request is answered, so the first has arrived.
  await quote(url)
  const states = await until('its payment has ended', async () => {
    const now = await statesOf(till, buyer.address)
    return now.length > 0 && now.every((state) => state === 'served' || state === 'released') && now
  })
  const charged = await spentOnChain(till, 'base', buyer.address)
  // Whether the hang-up was seen in time decides; what must hold is that it was charged only if it was served.
  expect(charged).toBe(states.includes('served') ? 1000n : 0n)
})

test('A37: a facilitator that breaks after it settled never leads to a second charge', async () => {
  const buyer = await till.newBuyer()
  fault.after = 'throw'
  const response = await buy(buyer, `${url}?message=a37`)
  // The chain already shows the transfer, so the answer is given at once.
  expect([200, 503]).toContain(response.status)
  fault.after = 'truth'
  if (response.status === 503) {
    await untilState(buyer.address, 'served')
    expect((await buy(buyer, `${url}?message=a37`)).status).toBe(200)
  }
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
})

test('a refusal is no proof: a nonce that was used after our claim counts as paid', async () => {
  const buyer = await till.newBuyer()
  fault.after = 'refused'
  expect((await buy(buyer, `${url}?message=refused`)).status).toBe(200)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
})

test('A38: pending for a while answers 503 with a status URL, later 200 for the same identifier, with one effect', async () => {
  const buyer = await till.newBuyer()
  const target = `${url}?message=pending`
  await till.base.control.holdMining()
  fault.after = 'unknown'
  const offer = await quote(target)
  const identifier = 'pending-purchase-0001'
  const pending = send(target, await signPayment(buyer, offer, { identifier }))
  const second = async () => send(target, await signPayment(buyer, offer, { identifier }))
  await untilState(buyer.address, 'settling')
  const busy = await second()
  expect(busy.status).toBe(503)
  await busy.text()
  await till.base.control.releaseMining()
  const first = await pending
  expect([200, 503]).toContain(first.status)
  await untilState(buyer.address, 'served')
  fault.after = 'truth'
  const later = await second()
  expect(later.status).toBe(200)
  expect(await later.json()).toMatchObject({ echo: 'pending' })
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
  expect((await paymentRows(till)).filter((row) => row.payer === buyer.address.toLowerCase())).toHaveLength(1)
})

test('a payment status tells the state and never the answer', async () => {
  const buyer = await till.newBuyer()
  const answer = (await (await buy(buyer, `${url}?message=secret-text`)).json()) as { payment_id: string }
  const status = await fetch(`${till.node.url}/v1/payments/${answer.payment_id}`)
  const text = await status.text()
  expect(JSON.parse(text)).toMatchObject({ id: answer.payment_id, state: 'served' })
  expect(text).not.toContain('secret-text')
  expect((await fetch(`${till.node.url}/v1/payments/pay_00000000000000000000000000`)).status).toBe(404)
})
