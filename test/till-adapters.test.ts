import { request as httpRequest } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeServer as makeMcp } from '../examples/mcp/server.ts'
import { Cities, type WeatherSource } from '../examples/weather.ts'
import { contentDigest } from '../packages/protocol/src/signatures/signature-base.ts'
import { signRequest } from '../packages/sdk/src/sign-request.ts'
import {
  type AdapterName,
  adapterPromises,
  type Kept,
  promises,
  type SellerPromise,
} from '../packages/till/src/adapters/promises.ts'
import { createTill, type Till } from '../packages/till/src/index.ts'
import { sha256 } from '../packages/till/src/kernel/bytes.ts'
import { useTestDatabase } from '../packages/till/src/store/use-database.fixture.ts'
import { type Buyer, testTill } from '../packages/till/src/testing/index.ts'
import { faultsInBooks } from './harness/books.ts'
import { type HttpAdapter, httpAdapters, type Seller, startSeller } from './harness/sellers.ts'
import { stockFetch } from './harness/stock-fetch.ts'
import { until } from './harness/until.ts'

/**
 * Each adapter's example is bought from over real HTTP, and what it promises is observed and compared with the table that
 * the package states about it.
 */
const seen: Partial<Record<AdapterName, Partial<Record<SellerPromise, Kept>>>> = {}

/** Calls of the source by city, and how a test holds handlers and settlements back. */
const calls: string[] = []
let releaseSlow: () => void = () => {}
let holdSettling: Promise<void> | undefined

const weather: WeatherSource = async (city) => {
  calls.push(city)
  if (city.startsWith('throw')) throw new Error('no weather')
  if (city.startsWith('hang')) await new Promise(() => {})
  if (city.startsWith('slow'))
    await new Promise<void>((resolve) => {
      releaseSlow = resolve
    })
  return { city, degrees: 20, note: '' }
}
const callsOf = (city: string) => calls.filter((one) => one === city).length

const db = await useTestDatabase()
const kit = await testTill({
  database: db.databaseUrl,
  publicUrl: 'http://seller.test',
  limits: { prepareSeconds: 5 },
  intercept: {
    facilitator: (real) => ({
      ...real,
      settle: async (payment, signal) => {
        await holdSettling
        return real.settle(payment, signal)
      },
    }),
  },
})
afterAll(async () => {
  expect(await faultsInBooks(db.owner)).toEqual([])
  await kit.close()
  process.stdout.write(`${tableOf(seen)}\n`)
})

/** What was observed, in the form of the table in embed.md. */
function tableOf(kept: typeof seen): string {
  const names = Object.keys(kept) as AdapterName[]
  const rows = (Object.keys(promises) as SellerPromise[]).map(
    (promise) => `| ${promises[promise]} | ${names.map((name) => kept[name]?.[promise] ?? 'not seen').join(' | ')} |`,
  )
  return [`| promise | ${names.join(' | ')} |`, `|---|${names.map(() => '---|').join('')}`, ...rows].join('\n')
}

type Row = { state: string; delivered: boolean; client_gone: boolean; route_id: string }
const paymentsOf = async (buyer: Buyer) =>
  (
    await db.owner.query<Row>(
      `select state, delivered_at is not null as delivered, client_gone, route_id from payment where payer = $1 order by claimed_at`,
      [buyer.address],
    )
  ).rows

const observeFor =
  (table: Readonly<Record<SellerPromise, Kept>>, kept: Partial<Record<SellerPromise, Kept>>) =>
  (promise: SellerPromise, observed: Kept) => {
    kept[promise] = observed
    expect(observed, promises[promise]).toBe(table[promise])
  }

/** A paid request on its own connection, which a test can break. */
function sendAndLeave(url: string, payment: string): { leave(): Promise<void> } {
  const request = httpRequest(url, { agent: false, headers: { 'payment-signature': payment } })
  request.on('error', () => {})
  request.end()
  return {
    leave: async () => {
      const closed = new Promise((resolve) => request.once('close', resolve))
      request.destroy()
      await closed
      // The seller is in this process: by the time it has answered others, it has seen the connection close.
      for (let turn = 0; turn < 5; turn += 1) await (await fetch(url)).arrayBuffer()
    },
  }
}

describe.each(httpAdapters)('%s', (adapter: HttpAdapter) => {
  let till: Till
  let seller: Seller
  let city = 0
  const kept: Partial<Record<SellerPromise, Kept>> = {}
  const table = adapterPromises[adapter]
  const newBuyer = () => kit.buyer(fetch)
  const place = (name: string) => {
    city += 1
    return `${name}-${adapter}-${city}`
  }
  const urlOf = (name: string) => `${seller.url}/weather/${name}`
  const pay = async (url: string, payment: string) => fetch(url, { headers: { 'payment-signature': payment } })
  const observe = observeFor(table, kept)

  beforeAll(async () => {
    till = await createTill(kit.options)
    seller = await startSeller(adapter, till, weather)
  })
  afterAll(async () => {
    seen[adapter] = kept
    await seller.close()
    await till.close()
    expect(Object.keys(kept).sort()).toEqual(Object.keys(promises).sort())
  })

  test('an unmodified @x402/fetch buys by GET and by POST', async () => {
    const paidFetch = stockFetch((await newBuyer()).privateKey)
    const got = await paidFetch(urlOf('rome'))
    expect([got.status, await got.json()]).toEqual([200, { city: 'rome', degrees: 20, note: '' }])
    const body = JSON.stringify({ cities: ['oslo', 'bonn'] })
    const posted = await paidFetch(`${seller.url}/reports`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect([posted.status, JSON.parse(await posted.text()).cities.length]).toEqual([200, 2])
  })

  test('one payment is served once, for its own request', async () => {
    const buyer = await newBuyer()
    const here = place('once')
    const payment = await buyer.sign(await fetch(urlOf(here)))
    const answers = await Promise.all([1, 2, 3, 4].map(() => pay(urlOf(here), payment)))
    const again = await pay(urlOf(here), payment)
    const served = [...answers, again].filter(({ status }) => status === 200).length
    observe('one_serve', served === 1 && callsOf(here) === 1 ? 'holds' : 'off')
    const other = await pay(urlOf(place('other')), await buyer.sign(await fetch(urlOf(place('bound')))))
    observe('bound', other.status === 409 ? 'holds' : 'off')
    expect((await paymentsOf(buyer)).filter(({ state }) => state === 'served')).toHaveLength(1)
  })

  test('a handler that throws or does not end takes nothing; a body over its limit is refused', async () => {
    const buyer = await newBuyer()
    const statuses = [
      (await buyer.fetch(urlOf(place('throw')))).status,
      (await buyer.fetch(urlOf(place('hang')))).status,
    ]
    expect(statuses).toEqual([500, 503])
    const states = (await paymentsOf(buyer)).map(({ state }) => state)
    observe('nothing_for_failure', states.every((state) => state === 'released') ? 'holds' : 'off')
    const long = await fetch(`${seller.url}/reports`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: 'x'.repeat(5_000),
    })
    observe('body_limit', long.status === 413 ? 'holds' : 'off')
    await long.arrayBuffer()
    const head = await fetch(urlOf('rome'), { method: 'HEAD' })
    expect(head.status).toBe(402)
  })

  test('the bytes that arrive are those that were signed, and a lost answer comes again by its identifier', async () => {
    const buyer = await newBuyer()
    const here = urlOf(place('signed'))
    const identifier = `a-secret-identifier-${place('id')}`
    const payment = await buyer.sign(await fetch(here), { identifier })
    const answer = await fetch(here, {
      headers: { 'payment-signature': payment, 'accept-encoding': 'gzip' },
    })
    const bytes = new Uint8Array(await answer.arrayBuffer())
    const digest = answer.headers.get('content-digest')
    const untouched = answer.headers.get('etag') === null && answer.headers.get('content-encoding') === null
    observe('signed_bytes', digest === contentDigest(sha256(bytes)) && untouched ? 'holds' : 'off')
    expect(
      await till.selfTest((request) => fetch(request.url.replace('http://seller.test', seller.url), request)),
    ).toEqual([])
    const again = await pay(here, payment)
    observe(
      'identifier',
      again.status === 200 && Buffer.from(await again.arrayBuffer()).equals(bytes) ? 'holds' : 'off',
    )
  })

  test('a lost answer comes again at its status URL to the paying key and to nobody else', async () => {
    const [buyer, stranger] = await Promise.all([newBuyer(), newBuyer()])
    const here = urlOf(place('proof'))
    const payment = await buyer.sign(await fetch(here))
    const first = Buffer.from(await (await pay(here, payment)).arrayBuffer())
    const used = await pay(here, payment)
    const { answer_url } = (await used.json()) as { answer_url: string }
    expect([used.status, answer_url]).toEqual([409, expect.stringMatching(/^http:\/\/seller\.test\/x402\/payments\//)])
    const ask = async (headers: Record<string, string> = {}) =>
      fetch(answer_url.replace('http://seller.test', seller.url), { headers })
    const proof = async ({ privateKey }: Buyer, url = answer_url) => {
      const signed = await signRequest(url, undefined, { account: privateKeyToAccount(privateKey) })
      return Object.fromEntries(signed.headers)
    }
    const own = await proof(buyer)
    const again = await ask(own)
    const same = Buffer.from(await again.arrayBuffer()).equals(first)
    const refused = [
      (await ask()).status,
      (await ask(own)).status,
      (await ask(await proof(stranger))).status,
      (await ask(await proof(buyer, answer_url.replace('seller.test', 'other.test')))).status,
      (await ask({ 'payment-signature': payment })).status,
    ]
    expect(refused).toEqual([401, 401, 404, 401, 401])
    expect(again.headers.get('payment-response')).not.toBeNull()
    observe('key_proof', again.status === 200 && same ? 'holds' : 'off')
  })

  test('a buyer who hangs up before settlement', async () => {
    const buyer = await newBuyer()
    const here = place('slow')
    const { leave } = sendAndLeave(urlOf(here), await buyer.sign(await fetch(urlOf(here))))
    await until('the handler runs', async () => callsOf(here) === 1)
    await leave()
    releaseSlow()
    const end = await until('the payment ends', async () => {
      const [row] = await paymentsOf(buyer)
      return row && ['released', 'served'].includes(row.state) && row.state
    })
    observe('hang_up', end === 'released' ? 'holds' : 'off')
  })

  test('a buyer whose answer was lost pays again', async () => {
    const buyer = await newBuyer()
    const here = place('lost')
    let settle: () => void = () => {}
    holdSettling = new Promise((resolve) => {
      settle = resolve
    })
    const { leave } = sendAndLeave(urlOf(here), await buyer.sign(await fetch(urlOf(here))))
    try {
      await until('it is being settled', async () => (await paymentsOf(buyer))[0]?.state === 'settling')
      await leave()
    } finally {
      holdSettling = undefined
      settle()
    }
    await until('it is served', async () => (await paymentsOf(buyer))[0]?.state === 'served')
    await until('the end is written', async () => {
      const [row] = await paymentsOf(buyer)
      return row?.delivered || row?.client_gone
    })
    const fresh = await buyer.fetch(urlOf(here))
    expect(fresh.status).toBe(200)
    // The fresh one is kept from being settled later, too.
    const states = (await paymentsOf(buyer)).map(({ state }) => state)
    const given = callsOf(here) === 1 && states.join() === 'served,failed'
    observe('fresh_payment', given ? 'holds' : 'off')
  })
})

describe('mcp', () => {
  let till: Till
  const client = new Client({ name: 'buyer', version: '1' })
  const kept: Partial<Record<SellerPromise, Kept>> = {}
  const observe = observeFor(adapterPromises.mcp, kept)

  beforeAll(async () => {
    till = await createTill(kit.options)
    const server = makeMcp(till, weather)
    till.sell(
      { id: 'weather.report', path: '/reports', price: '0.01', body: Cities, bodyBytesMax: 2_000 },
      async ({ body }) => body,
    )
    const [here, there] = InMemoryTransport.createLinkedPair()
    await Promise.all([server.connect(there), client.connect(here)])
  })
  afterAll(async () => {
    seen.mcp = kept
    await client.close()
    await till.close()
    expect(Object.keys(kept).sort()).toEqual(Object.keys(promises).sort())
  })

  const call = async (city: string, payment?: unknown, options: { signal?: AbortSignal } = {}) =>
    client.callTool(
      {
        name: 'weather_now',
        arguments: { city },
        ...(payment === undefined ? {} : { _meta: { 'x402/payment': payment } }),
      },
      undefined,
      options,
    )
  /** As a client of x402 over MCP does it: the terms come as the content of the result. */
  const signFor = async (buyer: Buyer, city: string, options: { identifier?: string } = {}): Promise<unknown> => {
    const terms = Buffer.from(JSON.stringify((await call(city)).structuredContent)).toString('base64')
    const asked = new Response(null, { status: 402, headers: { 'payment-required': terms } })
    return JSON.parse(Buffer.from(await buyer.sign(asked, options), 'base64').toString())
  }

  test('a tool asks for its price, is paid in _meta and answered once, for its own arguments', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['weather_now', 'weather_report'])
    expect((await call('cairo-mcp')).isError).toBe(true)
    const buyer = await kit.buyer(fetch)
    const payment = await signFor(buyer, 'cairo-mcp')
    const other = await call('lima-mcp', payment)
    observe('bound', other.isError === true && callsOf('lima-mcp') === 0 ? 'holds' : 'off')
    const answers = await Promise.all([1, 2, 3].map(() => call('cairo-mcp', payment)))
    const served = answers.filter(({ isError }) => !isError)
    observe('one_serve', served.length === 1 && callsOf('cairo-mcp') === 1 ? 'holds' : 'off')
    const [answer] = served
    expect(answer?.structuredContent).toEqual({ city: 'cairo-mcp', degrees: 20, note: '' })
    expect(answer?._meta?.['x402/payment-response']).toMatchObject({ success: true })
    const [{ text = '' } = {}] = (answer?.content ?? []) as { text?: string }[]
    const response = answer?._meta?.['assay/response'] as Record<string, string>
    const isSigned = response['content-digest'] === contentDigest(sha256(Buffer.from(text))) && response['signature']
    // In the result and not around it: the transport itself is not covered.
    observe('signed_bytes', isSigned ? 'weaker' : 'off')
    expect(await paymentsOf(buyer)).toMatchObject([{ state: 'served', delivered: true }])
  })

  test('a handler that throws takes nothing; arguments over the limit are refused', async () => {
    const buyer = await kit.buyer(fetch)
    expect((await call('throw-mcp', await signFor(buyer, 'throw-mcp'))).isError).toBe(true)
    const [row] = await paymentsOf(buyer)
    observe('nothing_for_failure', row?.state === 'released' ? 'holds' : 'off')
    const long = await client.callTool({ name: 'weather_report', arguments: { cities: ['x'.repeat(3_000)] } })
    observe('body_limit', (long.structuredContent as { status?: number }).status === 413 ? 'holds' : 'off')
  })

  test('a lost answer comes again by its identifier, and by the paying key over HTTP alone', async () => {
    const buyer = await kit.buyer(fetch)
    const named = await signFor(buyer, 'again-mcp', { identifier: 'a-secret-identifier-for-mcp' })
    const twice = [await call('again-mcp', named), await call('again-mcp', named)]
    const same = JSON.stringify(twice[0]?.structuredContent) === JSON.stringify(twice[1]?.structuredContent)
    observe('identifier', same && callsOf('again-mcp') === 1 ? 'holds' : 'off')
    const payment = await signFor(buyer, 'proof-mcp')
    await call('proof-mcp', payment)
    const { answer_url } = (await call('proof-mcp', payment)).structuredContent as { answer_url: string }
    const account = privateKeyToAccount(buyer.privateKey)
    const given = await till.fetch(await signRequest(answer_url, undefined, { account }))
    observe('key_proof', given.status === 200 ? 'weaker' : 'off')
  })

  test('a caller who disconnects is not seen, so the payment remains', async () => {
    const buyer = await kit.buyer(fetch)
    const payment = await signFor(buyer, 'slow-mcp')
    const gone = new AbortController()
    const asked = call('slow-mcp', payment, { signal: gone.signal }).catch(() => undefined)
    await until('the handler runs', async () => callsOf('slow-mcp') === 1)
    gone.abort()
    await asked
    releaseSlow()
    const end = await until('the payment ends', async () => {
      const [row] = await paymentsOf(buyer)
      return row && ['released', 'served'].includes(row.state) && row.state
    })
    observe('hang_up', end === 'released' ? 'holds' : 'off')
    const again = call('slow-mcp', await signFor(buyer, 'slow-mcp'))
    await until('it is made again', async () => callsOf('slow-mcp') === 2)
    releaseSlow()
    await again
    observe('fresh_payment', (await paymentsOf(buyer)).length === 1 ? 'holds' : 'off')
  })
})
