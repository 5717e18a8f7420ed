import { expect, test } from 'vitest'
import { z } from 'zod'
import type { RouteDeclaration } from '../packages/node/src/http/index.ts'
import type { OpenShop } from '../packages/node/src/shops/shop.ts'
import { spentOnChain } from './harness/invariants.ts'
import { postJson } from './harness/post-json.ts'
import { type PaymentRequired, quote, send, signPayment } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

let unitMicro = 1_000n

/** Sells units by the body, a cheap GET and a dear POST at one address, and a POST at its own price. */
const openUnits: OpenShop = ({ base }) => {
  const paid = (
    id: string,
    method: 'GET' | 'POST',
    path: string,
    price: Extract<RouteDeclaration['access'], { kind: 'paid' }>['price'],
  ): RouteDeclaration => ({
    id,
    area: 'core',
    method,
    path,
    summary: `Sells at ${path}`,
    ...(method === 'POST' ? { body: z.strictObject({ units: z.number().int().min(1).max(1_000) }) } : {}),
    output: z.strictObject({ ok: z.boolean() }),
    example: { ...(method === 'POST' ? { body: { units: 1 } } : {}), output: { ok: true } },
    next: '/',
    access: {
      kind: 'paid',
      price,
      networks: [base.caip2],
      payee: 'pay_to',
      revocable: false,
      prepare: async () => ({ answer: { status: 200, contentType: 'application/json', body: '{"ok":true}' } }),
    },
  })
  return {
    routes: [
      paid('units.buy', 'POST', '/units', {
        kind: 'from_input',
        lowestMicro: 1_000n,
        highestMicro: 10_000_000n,
        of: ({ body }) => unitMicro * BigInt(body.units),
      }),
      paid('both.look', 'GET', '/both', { kind: 'fixed', micro: 1_000n }),
      paid('both.buy', 'POST', '/both', { kind: 'fixed', micro: 900_000n }),
    ],
  }
}

// Beside a channel the header has no room for the signed offers, which the body has.
const till = useTill({ ownShops: 'till', shops: [openUnits], env: { CHANNELS: 'false' } })

const units = (count: number): RequestInit => postJson({ units: count })
const echoOffers = (offer: PaymentRequired) => ({
  extensions: { 'offer-receipt': offer.extensions['offer-receipt'] },
})

test('a signed offer for a small input or a bare probe does not buy a dear input at that price', async () => {
  const thief = await till.newBuyer()
  const url = `${till.node.url}/units`
  for (const cheap of [await quote(url, { method: 'POST' }), await quote(url, units(1))]) {
    expect(cheap.accepts[0]?.amount).toBe('1000')
    const response = await send(url, await signPayment(thief, cheap, echoOffers(cheap)), units(1_000))
    expect(response.status).toBe(402)
  }
  expect(await spentOnChain(till, 'base', thief.address)).toBe(0n)
})

test('a signed offer for one method is no offer for another at the same address', async () => {
  const thief = await till.newBuyer()
  const url = `${till.node.url}/both`
  const cheap = await quote(url)
  expect((await send(url, await signPayment(thief, cheap, echoOffers(cheap)), units(1))).status).toBe(402)
  expect(await spentOnChain(till, 'base', thief.address)).toBe(0n)
})

test('an offer for an input is honoured for that very input after the price rose', async () => {
  const buyer = await till.newBuyer()
  const url = `${till.node.url}/units`
  unitMicro = 1_000n
  const other = await quote(url, units(4))
  const offer = await quote(url, units(3))
  unitMicro = 2_000n
  const wrong = await send(url, await signPayment(buyer, other, echoOffers(other)), units(3))
  expect(wrong.status).toBe(402)
  const response = await send(url, await signPayment(buyer, offer, echoOffers(offer)), units(3))
  expect(response.status).toBe(200)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(3_000n)
  unitMicro = 1_000n
})
