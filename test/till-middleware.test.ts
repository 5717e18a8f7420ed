import { createServer, type RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { etag } from 'hono/etag'
import { timeout } from 'hono/timeout'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { makeApp as makeCrawlerApp } from '../examples/crawlers/app.ts'
import { documents as expressDocuments, sell as sellOnExpress } from '../packages/till/src/adapters/express.ts'
import { sold as soldOnFastify } from '../packages/till/src/adapters/fastify.ts'
import { sell as sellOnHono } from '../packages/till/src/adapters/hono.ts'
import { createTill } from '../packages/till/src/index.ts'
import { onLoopback } from '../packages/till/src/kernel/on-loopback.fixture.ts'
import { useTestDatabase } from '../packages/till/src/store/use-database.fixture.ts'
import { type Buyer, testTill } from '../packages/till/src/testing/index.ts'
import { until } from './harness/until.ts'

/** What surrounds a sold route in an application, and what it must not do to one. */
const db = await useTestDatabase()
const kit = await testTill({ database: db.databaseUrl, publicUrl: 'http://seller.test' })
afterAll(() => kit.close())

const statesOf = async (buyer: Buyer) =>
  (
    await db.owner.query<{ state: string }>('select state from payment where payer = $1 order by claimed_at', [
      buyer.address,
    ])
  ).rows.map(({ state }) => state)

test('middleware that changes what was signed is reported by the self-test', async () => {
  const app = new Hono()
  app.use('/rewritten', async (context, next) => {
    await next()
    context.res = new Response('{"changed":true}', context.res)
  })
  app.use('/tagged', etag())
  app.use('/compressed', compress())
  for (const name of ['rewritten', 'tagged', 'compressed'])
    app.get(
      `/${name}`,
      sellOnHono(kit.till, { id: `self.${name}`, path: `/${name}`, price: '0.01' }, async () => ({})),
    )
  const problems = await kit.till.selfTest((request) =>
    /rewritten|tagged|compressed/.test(request.url) ? app.fetch(request) : kit.till.fetch(request),
  )
  expect(problems).toEqual([
    expect.stringContaining('self.rewritten: the bytes of the answer were changed'),
    expect.stringContaining('self.tagged: an answer is replaced by a 304'),
  ])
  const buyer = await kit.buyer(app.request)
  const conditional = await buyer.fetch('/tagged', { headers: { 'if-none-match': '*' } })
  expect(conditional.status).toBe(400)
  expect(await statesOf(buyer)).toEqual([])
  const compressed = await buyer.fetch('/compressed', { headers: { 'accept-encoding': 'gzip' } })
  expect([compressed.status, compressed.headers.get('content-encoding')]).toEqual([200, null])
})

test('a site that people read for free answers AI crawlers with 402, and those that pay with the article', async () => {
  const app = makeCrawlerApp(kit.till, new Map([['bread', { title: 'Bread', text: 'Flour & water.' }]]))
  const person = await app.request('/articles/bread', { headers: { 'user-agent': 'Mozilla/5.0 Firefox/140.0' } })
  expect([person.status, person.headers.get('vary')]).toEqual([200, 'User-Agent, Payment-Signature'])
  expect(await person.text()).toContain('Flour &#38; water.')
  const crawler = { headers: { 'user-agent': 'Mozilla/5.0 (compatible; GPTBot/1.3)' } }
  expect((await app.request('/articles/bread', crawler)).status).toBe(402)
  const buyer = await kit.buyer(app.request)
  const paid = await buyer.fetch('/articles/bread', crawler)
  expect([paid.status, await paid.json()]).toEqual([200, { title: 'Bread', text: 'Flour & water.' }])
  expect((await buyer.fetch('/articles/none', crawler)).status).toBe(404)
  expect(await statesOf(buyer)).toEqual(['served', 'released'])
})

test('a body that was parsed before the till is an error that says how to keep its bytes', async () => {
  const app = express()
  app.use('/parsed', express.json())
  app.use(
    '/kept',
    express.json({
      verify: (request, _response, bytes) => {
        Object.assign(request, { rawBody: bytes })
      },
    }),
  )
  const body = z.strictObject({ n: z.number() })
  for (const name of ['parsed', 'kept'])
    app.post(
      `/${name}`,
      sellOnExpress(kit.till, { id: `body.${name}`, path: `/${name}`, price: '0.01', body }, async (call) => call.body),
    )
  const server = createServer(app)
  const { url, close } = await onLoopback(server)
  const buyer = await kit.buyer(fetch)
  const post = (name: string) =>
    buyer.fetch(`${url}/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ n: 3 }),
    })
  const refused = await post('parsed')
  expect([refused.status, await refused.text()]).toEqual([500, expect.stringContaining('express.json({ verify')])
  const answered = await post('kept')
  expect([answered.status, await answered.json()]).toEqual([200, { n: 3 }])
  await close()
})

test('the self-test finds a route that is mounted elsewhere and documents that are not routed, by the address alone', async () => {
  const till = await createTill(kit.options)
  const api = express.Router()
  api.get(
    '/a',
    sellOnExpress(till, { id: 'mount.right', path: '/v1/a', price: '0.01' }, async () => ({})),
  )
  api.get(
    '/b',
    sellOnExpress(till, { id: 'mount.wrong', path: '/b', price: '0.01' }, async () => ({})),
  )
  const app = express().use('/v1', api)
  const { url, close } = await onLoopback(createServer(app))
  expect(await till.selfTest(url)).toEqual([
    expect.stringContaining('documents: /.well-known/http-message-signatures-directory is answered 404'),
    expect.stringContaining('mount.wrong: /b is answered 404; declare its path as buyers see it'),
  ])
  expressDocuments(app, till)
  expect(await till.selfTest(url)).toHaveLength(1)
  // The way in of the test is open only while it runs, and gives nothing that is sold.
  const guessed = await fetch(`${url}/v1/a`, { headers: { 'x-till-self-test': '' } })
  expect(guessed.status).toBe(402)
  await close()
  await till.close()
})

describe.each(['express', 'hono'] as const)('on %s', (framework) => {
  let release: () => void = () => {}
  let begun = 0
  const slow = async () => {
    begun += 1
    await new Promise<void>((resolve) => {
      release = resolve
    })
    return { late: true }
  }

  test('a timeout that answers before the handler does takes nothing', async () => {
    const declaration = { id: `late.${framework}`, path: `/late-${framework}`, price: '0.01' }
    const { url, close } = await onLoopback(createServer(lateApp(framework, declaration, slow)))
    const buyer = await kit.buyer(fetch)
    const before = begun
    const asked = buyer.fetch(`${url}${declaration.path}`)
    await until('the handler runs', async () => begun > before)
    expect((await asked).status).toBe(504)
    release()
    const end = await until('the payment ends', async () => {
      const [state] = await statesOf(buyer)
      return state !== undefined && state !== 'claimed' && state
    })
    expect(end).toBe('released')
    expect(await kit.chain.balanceOf(buyer.address)).toBe(10_000_000n)
    await close()
  })
})

/** An application that answers 504 when a request takes long, while its handler still runs. */
function lateApp(
  framework: 'express' | 'hono',
  declaration: { id: string; path: string; price: string },
  slow: () => Promise<unknown>,
): RequestListener {
  if (framework === 'hono')
    return getRequestListener(
      new Hono().use(timeout(1_000)).get(declaration.path, sellOnHono(kit.till, declaration, slow)).fetch,
    )
  return express()
    .use((_request, response, next) => {
      setTimeout(() => response.headersSent || response.status(504).end(), 1_000)
      next()
    })
    .get(declaration.path, sellOnExpress(kit.till, declaration, slow))
}

test('a Response that is given a second time takes nothing', async () => {
  const kept = new Response('{"kept":true}', { headers: { 'content-type': 'application/json' } })
  kit.till.sell({ id: 'kept.response', path: '/kept-response', price: '0.01' }, () => kept)
  const buyer = await kit.buyer(kit.till.fetch)
  expect((await buyer.fetch('/kept-response')).status).toBe(200)
  expect((await buyer.fetch('/kept-response')).status).toBe(500)
  expect(await statesOf(buyer)).toEqual(['served', 'released'])
})

describe('one resource has one URL', () => {
  const params = z.object({ name: z.string() })
  const resourceOf = async (address: string) => {
    const answer = await fetch(address)
    const header = answer.headers.get('payment-required')
    if (header === null) return answer.status
    const { resource } = JSON.parse(Buffer.from(header, 'base64').toString()) as { resource: { url: string } }
    return resource.url
  }

  test('however express spells it: mount path, case, slash, %2F', async () => {
    const api = express.Router()
    const declaration = { id: 'spelled.express', path: '/shop/things/:name', price: '0.01', params }
    api.get(
      '/things/:name',
      sellOnExpress(kit.till, declaration, async () => ({})),
    )
    const { url, close } = await onLoopback(createServer(express().use('/shop', api)))
    const buyer = await kit.buyer(fetch)
    for (const path of ['/shop/things/a%2Fb', '/Shop/Things/a%2fb', '/shop/things/a%2Fb/'])
      expect(await resourceOf(`${url}${path}`)).toBe('http://seller.test/shop/things/a%2Fb')
    // A payment for one spelling is a payment for the other, and still serves once.
    const payment = await buyer.sign(await fetch(`${url}/shop/things/a%2Fb`))
    const send = async (path: string) =>
      (await fetch(`${url}${path}`, { headers: { 'payment-signature': payment } })).status
    expect([await send('/SHOP/things/a%2fb/'), await send('/shop/things/a%2Fb')]).toEqual([200, 409])
    await close()
  })

  test('however fastify spells it', async () => {
    const till = await createTill(kit.options)
    till.sell({ id: 'spelled.fastify', path: '/items/:name', price: '0.01', params }, async () => ({}))
    const app = fastify({ routerOptions: { ignoreTrailingSlash: true, caseSensitive: false } })
    app.register(soldOnFastify(till))
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    for (const path of ['/items/a%2Fb', '/Items/a%2fb', '/items/a%2Fb/'])
      expect(await resourceOf(`${url}${path}`)).toBe('http://seller.test/items/a%2Fb')
    await app.close()
    await till.close()
  })
})
