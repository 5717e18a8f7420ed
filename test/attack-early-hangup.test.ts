import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { OpenShop } from '../packages/node/src/shops/shop.ts'
import { spentOnChain, statesOf } from './harness/invariants.ts'
import { encodePayload, quote, send, signPayment } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

let pricing: Promise<void> | undefined
let pricesAsked = 0

/** A price that takes a moment, such as one read from the database. */
const openSlow: OpenShop = ({ base }) => ({
  routes: [
    {
      id: 'slow.price',
      area: 'core',
      method: 'GET',
      path: '/slow',
      summary: 'A price that takes a moment',
      output: z.strictObject({ ok: z.boolean() }),
      example: { output: { ok: true } },
      next: '/',
      access: {
        kind: 'paid',
        price: {
          kind: 'from_input',
          lowestMicro: 1n,
          highestMicro: 10_000n,
          of: async () => {
            pricesAsked += 1
            await pricing
            return 1_000n
          },
        },
        networks: [base.caip2],
        payee: 'pay_to',
        revocable: false,
        prepare: async () => ({ answer: { status: 200, contentType: 'application/json', body: '{"ok":true}' } }),
      },
    },
  ],
})

const till = useTill({ ownShops: 'till', shops: [openSlow] })

test('a client that hangs up before its payment is even checked is not charged twice for coming back', async () => {
  const buyer = await till.newBuyer()
  const url = `${till.node.url}/slow`
  const offer = await quote(url)
  const header = encodePayload(await signPayment(buyer, offer))
  const { hostname, port, host } = new URL(url)
  let priced: () => void = () => {}
  pricing = new Promise((resolve) => {
    priced = resolve
  })
  const askedBefore = pricesAsked
  const socket = connect(Number(port), hostname, () => {
    socket.write(`GET /slow HTTP/1.1\r\nHost: ${host}\r\nPAYMENT-SIGNATURE: ${header}\r\n\r\n`)
  })
  await until('the price is asked for', async () => pricesAsked > askedBefore)
  socket.destroy()
  // A later request is answered: the node has seen the end of the connection before it.
  await (await fetch(till.node.url)).text()
  priced()
  pricing = undefined
  await quote(url)
  await until('the first try has ended', async () => {
    const states = await statesOf(till, buyer.address)
    return states.length > 0 && states.every((state) => state === 'released' || state === 'served')
  })
  expect((await send(url, await signPayment(buyer, offer))).status).toBe(200)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_000n)
})
