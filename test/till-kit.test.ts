import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { Receipt } from 'mppx'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Address } from '../packages/protocol/src/address.ts'
import { signRequest } from '../packages/sdk/src/sign-request.ts'
import { sell } from '../packages/till/src/adapters/hono.ts'
import { createTill, refusal } from '../packages/till/src/index.ts'
import { useTestDatabase } from '../packages/till/src/store/use-database.fixture.ts'
import { testTill } from '../packages/till/src/testing/index.ts'
import { mppClient } from './harness/mpp-client.ts'
import { until } from './harness/until.ts'

let prepared = 0
let ordersAreOpen = true
const committed: string[] = []

// As a served application does: from here on the global Request is its own class.
getRequestListener(() => new Response())
const db = await useTestDatabase()
const kit = await testTill({ database: db.databaseUrl, publicUrl: 'http://seller.test' })
const app = new Hono()
const { till } = kit
app.get(
  '/weather/:city',
  sell(
    till,
    {
      id: 'weather.now',
      path: '/weather/:city',
      price: '0.01',
      params: z.object({ city: z.string().max(40) }),
      query: z.strictObject({ unit: z.enum(['c', 'f']).default('c') }),
      output: z.strictObject({ city: z.string(), degrees: z.number(), unit: z.string() }),
      dataState: ({ city = '' }) => ({ city, measured_at: '2026-11-17T04:00:00Z' }),
    },
    async ({ params, query, payer }) => {
      prepared += 1
      if (params.city === 'nowhere') throw refusal(404, 'No such city.')
      if (params.city === 'broken') throw new Error('a secret of the handler')
      if (params.city === 'wrong') return JSON.parse('{"city":1}')
      if (params.city === 'missing') return new Response('gone', { status: 410 })
      expect(payer).toMatch(/^0x[0-9a-f]{40}$/)
      return { city: params.city, degrees: 21, unit: query.unit }
    },
  ),
)
app.post(
  '/orders',
  sell(
    till,
    {
      id: 'orders.place',
      path: '/orders',
      price: {
        ...{ lowest: '0.01', highest: '1' },
        of: ({ body }) => {
          if (!ordersAreOpen) throw refusal(409, 'No more orders today. Nothing was charged.')
          return BigInt(body.count) * 10_000n
        },
      },
      body: z.strictObject({ count: z.int().min(1).max(100) }),
      bodyBytesMax: 1_000,
    },
    {
      prepare: async ({ body }) => ({ answer: { count: body.count }, reservation: { count: body.count } }),
      commit: async (_tx, sale) => {
        committed.push(sale.paymentId)
      },
    },
  ),
)
const buyer = await kit.buyer(app.request)
afterAll(() => kit.close())

const posted = async () =>
  (await db.owner.query<{ n: string }>(`select count(*)::text as n from payment where state = 'served'`)).rows[0]?.n

describe('a route sold by the till in an application', () => {
  test('costs its price, is paid, answered and posted once', async () => {
    const unpaid = await app.request('http://seller.test/weather/rome')
    expect(unpaid.status).toBe(402)
    expect(unpaid.headers.get('payment-required')?.length).toBeLessThan(3_072)
    expect(await unpaid.json()).toMatchObject({ data_state: { city: 'rome', measured_at: '2026-11-17T04:00:00Z' } })
    const answer = await buyer.fetch('/weather/rome?unit=f')
    expect([answer.status, await answer.json()]).toEqual([200, { city: 'rome', degrees: 21, unit: 'f' }])
    expect(answer.headers.get('payment-response')).not.toBeNull()
    expect(answer.headers.get('cache-control')).toBe('private, no-store, no-transform')
    expect(await posted()).toBe('1')
  })

  test('is bought by an unmodified mppx client from 402s that share everything but the challenge', async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    await kit.chain.fund(account.address.toLowerCase() as Address, { microUsdc: 1_000_000n, wei: 0n })
    const client = mppClient(account, async (input, init) => app.request(new Request(input, init)))
    for (let i = 0; i < 3; i += 1) {
      const answer = await client.fetch('http://seller.test/weather/oslo')
      expect([answer.status, await answer.json()]).toMatchObject([200, { city: 'oslo' }])
      expect(Receipt.fromResponse(answer)).toMatchObject({ status: 'success', network: 'eip155:8453' })
    }
  })

  test('names its resource by template and parameters, however the path was spelled', async () => {
    const challenge = await app.request('http://other.test/weather/a%2fb%20c')
    const { resource } = JSON.parse(Buffer.from(challenge.headers.get('payment-required') ?? '', 'base64').toString())
    expect(resource.url).toBe('http://seller.test/weather/a%2Fb%20c')
  })

  test('takes nothing for a throw, a refusal, a wrong answer or a Response that is no 2xx', async () => {
    const before = await posted()
    const statuses = []
    for (const city of ['nowhere', 'broken', 'wrong', 'missing']) {
      const answer = await buyer.fetch(`/weather/${city}`)
      const text = await answer.text()
      expect(text).not.toContain('secret')
      statuses.push(answer.status)
    }
    expect(statuses).toEqual([404, 500, 500, 410])
    expect(await posted()).toBe(before)
  })

  test('takes nothing for a stream or for bytes that have no media type', async () => {
    const endless = async function* () {
      yield 'paid for'
    }
    till.sell({ id: 'kit.stream', path: '/stream', price: '0.01' }, () => endless())
    till.sell({ id: 'kit.web_stream', path: '/web-stream', price: '0.01' }, () => new ReadableStream())
    till.sell({ id: 'kit.bytes', path: '/bytes', price: '0.01' }, () => new Uint8Array(3))
    const customer = await kit.buyer(till.fetch)
    for (const path of ['/stream', '/web-stream', '/bytes']) expect((await customer.fetch(path)).status).toBe(500)
    expect(await kit.chain.balanceOf(customer.address)).toBe(10_000_000n)
  })

  test('reads the body once by its schema, prices it, and commits the effect once', async () => {
    const init = (count: number) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ count }),
    })
    const answer = await buyer.fetch('/orders', init(3))
    expect([answer.status, await answer.json()]).toEqual([200, { count: 3 }])
    expect(committed).toHaveLength(1)
    const wrong = await buyer.fetch('/orders', init(0))
    expect([wrong.status, Object.keys((await wrong.json()) as object)[0]]).toEqual([402, 'input_problem'])
    const long = await app.request('http://seller.test/orders', { ...init(1), body: 'x'.repeat(2_000) })
    expect(long.status).toBe(413)
  })

  test('a paid order whose price has run out since is answered as it was, and an unpaid one is refused', async () => {
    const init = () => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"count":1}',
    })
    const ask = (payment: string) => {
      const { headers, ...rest } = init()
      return app.request('http://seller.test/orders', {
        ...rest,
        headers: { ...headers, 'payment-signature': payment },
      })
    }
    const unpaid = await app.request('http://seller.test/orders', init())
    const paid = await buyer.sign(unpaid.clone(), { identifier: 'order-of-the-day-0001' })
    const [nameless, late] = [await buyer.sign(unpaid.clone()), await buyer.sign(unpaid)]
    const first = await ask(paid)
    expect([first.status, (await ask(nameless)).status]).toEqual([200, 200])
    ordersAreOpen = false
    const again = await ask(paid)
    expect([again.status, await again.text()]).toEqual([200, await first.text()])
    expect(await (await ask(nameless)).json()).toMatchObject({ status: 409, code: 'payment_used' })
    expect(await (await ask(late)).json()).toMatchObject({ status: 409, detail: expect.stringContaining('No more') })
    ordersAreOpen = true
  })

  test('a copy of a payment gets nothing new', async () => {
    const url = 'http://seller.test/weather/oslo'
    const header = await buyer.sign(await app.request(url))
    const send = () => app.request(url, { headers: { 'payment-signature': header } })
    const before = prepared
    const answers = await Promise.all([send(), send(), send()])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await send()).status).toBe(409)
    expect(prepared - before).toBe(1)
  })

  test('a till that closes lets a sale end and begins no other', async () => {
    const closing = await createTill(kit.options)
    let finish: () => void = () => {}
    let begun = false
    closing.sell({ id: 'closing.thing', path: '/closing', price: '0.01' }, async () => {
      begun = true
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return { closing: true }
    })
    const customer = await kit.buyer(closing.fetch)
    const sold = customer.fetch('/closing')
    await until('the handler runs', async () => begun)
    const closed = closing.close()
    expect((await customer.fetch('/closing')).status).toBe(503)
    finish()
    expect((await sold).status).toBe(200)
    await closed
  })

  test('many sales on a runtime that does not show hang-ups leave nothing behind', async () => {
    const warnings: string[] = []
    const note = ({ name }: Error) => warnings.push(name)
    process.on('warning', note)
    for (let sale = 0; sale < 12; sale += 1) expect((await buyer.fetch(`/weather/city-${sale}`)).status).toBe(200)
    // Warnings come in a later turn.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  test('a settlement whose answer is lost is found on the chain and served', async () => {
    kit.facilitator.failsAfterSettling()
    expect((await buyer.fetch('/weather/lima')).status).toBe(200)
  })

  test('a settlement that nobody knows of is 503 with a status URL, and never 402', async () => {
    kit.facilitator.failsBeforeSettling()
    const answer = await buyer.fetch('/weather/quito')
    expect(answer.status).toBe(503)
    const { status_url } = z.object({ status_url: z.string() }).parse(await answer.json())
    const status = await kit.till.fetch(new Request(status_url))
    expect(await status.json()).toMatchObject({ state: 'unknown', next: 'wait' })
    const account = privateKeyToAccount(buyer.privateKey)
    const asked = await kit.till.fetch(await signRequest(`${status_url}/answer`, undefined, { account }))
    expect([asked.status, asked.headers.get('retry-after')]).toEqual([503, '3'])
  })

  test('a settlement that hangs is given up in time, and nothing is charged when it never happened', async () => {
    const hasty = await createTill({ ...kit.options, limits: { settleSeconds: 3 } })
    hasty.sell({ id: 'hasty.thing', path: '/hasty', price: '0.01' }, async () => ({ hasty: true }))
    const customer = await kit.buyer(hasty.fetch)
    kit.facilitator.hangs()
    const answer = await customer.fetch('/hasty')
    expect([answer.status, await answer.json()]).toMatchObject([503, { status_url: expect.any(String) }])
    expect(await kit.chain.balanceOf(customer.address)).toBe(10_000_000n)
    await hasty.close()
  })

  test('an unpaid 402 may be shared for a moment, but never with another request or with a credential', async () => {
    const urlIn = (answer: Response) =>
      JSON.parse(Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString()).resource.url
    const ask = (path: string, headers: Record<string, string> = {}) =>
      kit.till.fetch(new Request(`http://seller.test${path}`, { headers }))
    const [first, second] = [await ask('/weather/riga'), await ask('/weather/riga')]
    expect(second.headers.get('signature')).toBe(first.headers.get('signature'))
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect(urlIn(await ask('/weather/riga?unit=f'))).toBe('http://seller.test/weather/riga?unit=f')
    expect((await ask('/weather/riga', { 'payment-signature': 'x' })).status).toBe(400)
    kit.till.entitle({
      name: 'guests',
      claims: (headers) => headers.get('cookie') === 'guest=1',
      hold: async () => ({ status: 'not_covered', note: 'guests pay today' }),
      capture: async () => [],
      release: async () => undefined,
      describe: async () => undefined,
    })
    expect(await (await ask('/weather/riga', { cookie: 'guest=1' })).text()).toContain('guests pay today')
  })

  test('its documents describe what is sold, and its keys are published', async () => {
    const get = async (path: string) => (await kit.till.fetch(new Request(`http://seller.test${path}`))).text()
    expect(await get('/openapi.json')).toContain('"x-payment-info"')
    expect(await get('/llms.txt')).toContain('/weather/{city}')
    expect(await get('/.well-known/x402')).toContain('http://seller.test/weather/city')
    expect(await get('/.well-known/http-message-signatures-directory')).toContain('"kid"')
    expect(await get('/x402/errors/payment_required')).toContain('"hint"')
  })
})
