import type { AnswerContent, PaidCall } from '@assay/till'
import { Problem } from '@assay/till/kernel/problem'
import { describe, expect, test } from 'vitest'
import { digestOf, fixtureRoutes, otherWallet, type SentRequest, send, testApp, wallet } from './http-app.fixture.ts'

const paid = { 'PAYMENT-SIGNATURE': 'good' }

describe('an unpaid call of a paid route', () => {
  test('A1: is 402 with the configured resource, signed, never cached', async () => {
    const app = testApp()
    const seen = await send(app, { target: '/v1/report/1?depth=2' })
    expect(seen.status).toBe(402)
    expect(seen.json.resource.url).toBe('https://node.test/v1/report/1?depth=2')
    expect(seen.headers.get('cache-control')).toBe('no-store')
    expect(seen.headers.get('content-type')).toBe('application/problem+json')
    expect(app.signer.signed[0]).toMatchObject({
      status: 402,
      method: 'GET',
      authority: 'node.test',
      path: '/v1/report/1',
      query: '?depth=2',
      paymentRequired: seen.headers.get('payment-required'),
    })
    expect(app.gate.calls).toHaveLength(0)
  })

  test('is 402 whatever the input, and the body says what is wrong with it', async () => {
    const app = testApp()
    const wrong: SentRequest[] = [
      { target: '/v1/report/NOT-VALID' },
      { target: '/v1/report/1?unknown=1' },
      { target: `/v1/report/1?ref=0x12` },
      { target: '/v1/report/1', headers: { Accept: 'image/png' } },
      { method: 'POST', target: '/v1/order', body: '{"amount":100}' },
      { method: 'POST', target: '/v1/order', body: '{"amount"' },
    ]
    for (const request of wrong) {
      const seen = await send(app, request)
      expect(seen.status, request.target).toBe(402)
      expect(seen.json.input_problem, request.target).toBeDefined()
    }
  })

  test('a bare probe of a body route is quoted the lowest price and hears no complaint', async () => {
    const seen = await send(testApp(), { method: 'POST', target: '/v1/order' })
    expect(seen.json).toEqual({
      code: 'payment_required',
      resource: { url: 'https://node.test/v1/order' },
      amount: '1000',
    })
  })

  test('a price from the input is quoted from the input', async () => {
    const seen = await send(testApp(), { method: 'POST', target: '/v1/order', body: '{"amount":7}' })
    expect(seen.json.amount).toBe('7000')
  })

  test('when the node fails to price it, nothing is wrong with the input: the failure is reported, and nothing is offered', async () => {
    const routes = fixtureRoutes()
    const access = routes.find(({ path }) => path === '/v1/order')?.access
    if (access?.kind === 'paid' && access.price.kind === 'from_input')
      access.price.of = () => {
        throw new Error('the database is gone')
      }
    const seen = await send(testApp({ routes }), { method: 'POST', target: '/v1/order', body: '{"amount":7}' })
    expect([seen.status, seen.json.code]).toEqual([500, 'internal'])
    expect(seen.headers.has('payment-required')).toBe(false)
  })

  test('what can never exist is 404 before any 402', async () => {
    expect((await send(testApp(), { target: '/v1/report/nothing' })).status).toBe(404)
  })

  test('A51, A52: conditional and range headers change nothing', async () => {
    const app = testApp()
    for (const name of ['If-None-Match', 'If-Modified-Since', 'Range', 'If-Range'])
      expect((await send(app, { target: '/v1/report/1', headers: { [name]: '*' } })).status, name).toBe(402)
  })
})

describe('a paid call', () => {
  test('is served with royalty, payment response and private caching, and binds what was asked', async () => {
    const app = testApp()
    const request = { target: `/v1/report/1?aff=${wallet}&depth=3&ref=${otherWallet}`, headers: paid }
    const seen = await send(app, request)
    expect(seen.status).toBe(200)
    expect(seen.json).toEqual({ echo: '1' })
    expect(seen.headers.get('cache-control')).toBe('private, no-store')
    expect(seen.headers.get('payment-response')).toBe('e30=')
    expect(seen.headers.get('x-x402-royalty-recipient')).toBe(wallet)
    expect(seen.headers.get('x-x402-royalty-bps')).toBe('250')
    expect(seen.headers.get('x-x402-license')).toBe('LicenseRef-Assay-1.0')
    const call = app.gate.calls[0] as PaidCall
    expect(call.resourceUrl).toBe('https://node.test/v1/report/1?depth=3')
    expect(call.attribution).toEqual({ ref: otherWallet, aff: wallet })
    expect(call.priceMicro).toBe(20_000n)
    seen.plain.delivered?.()
    expect(app.gate.delivered).toBe(1)
  })

  test('E7: wrong input is 400 with every problem named, and nothing is prepared', async () => {
    const app = testApp()
    const seen = await send(app, {
      method: 'POST',
      target: '/v1/order?x=1',
      headers: paid,
      body: '{"amount":0,"admin":true}',
    })
    expect(seen.status).toBe(400)
    const fields = seen.json.problems.map((problem: { field: string }) => problem.field).sort()
    expect(fields).toEqual(['body.admin', 'body.amount', 'query.x'])
    expect(app.gate.prepared).toBe(0)
  })

  test('the digest of the body and its content type reach the gate as they came', async () => {
    const app = testApp()
    const body = '{ "amount": 2 }'
    await send(app, { method: 'POST', target: '/v1/order', headers: paid, body })
    const call = app.gate.calls[0] as PaidCall
    expect(`0x${Buffer.from(call.bodyDigest).toString('hex')}`).toBe(digestOf(body))
    expect(call.contentType).toBe('application/json')
  })

  test('a shared 402 is never given to a caller with a credential, nor a paid answer to one without', async () => {
    const app = testApp()
    const statuses: number[] = []
    for (const headers of [{}, paid, {}, { Authorization: 'Bearer x' }, {}])
      statuses.push((await send(app, { target: '/v1/report/1', headers })).status)
    expect(statuses).toEqual([402, 200, 402, 400, 402])
  })

  test('payments that cannot be read are limited harder than other requests', async () => {
    const app = testApp({ config: { limits: { badPaymentsPerMinute: 3 } } as never })
    const statuses: number[] = []
    for (let i = 0; i < 5; i += 1)
      statuses.push((await send(app, { target: '/v1/report/1', headers: { 'PAYMENT-SIGNATURE': 'x' } })).status)
    expect(statuses).toEqual([400, 400, 400, 429, 429])
    expect((await send(app, { target: '/v1/thing/1' })).status).toBe(200)
  })

  const paused = { why: 'paused', detail: 'Sales are paused.', sinceMs: Date.parse('2026-01-01T00:00:00Z') }

  test('is refused before anything is taken while sales are paused, with why and since when', async () => {
    const app = testApp({ readiness: { refusal: () => paused } })
    const seen = await send(app, { target: '/v1/report/1', headers: paid })
    expect(seen.status).toBe(503)
    expect(seen.json).toMatchObject({ code: 'not_available', why: 'paused', since: '2026-01-01T00:00:00.000Z' })
    expect(seen.headers.has('retry-after')).toBe(true)
    expect((await send(app, { target: '/v1/thing/1' })).status).toBe(200)
  })

  test('a shared 402 is not given out once sales are paused', async () => {
    let off = false
    const app = testApp({ readiness: { refusal: () => (off ? paused : undefined) } })
    expect((await send(app, { target: '/v1/report/1' })).status).toBe(402)
    off = true
    expect((await send(app, { target: '/v1/report/1' })).status).toBe(503)
  })
})

describe('A11: methods', () => {
  test('HEAD on a paid route shows the headers of the 402, with or without payment, and runs nothing', async () => {
    const app = testApp()
    for (const headers of [{}, paid]) {
      const seen = await send(app, { method: 'HEAD', target: '/v1/report/1', headers })
      expect(seen.status).toBe(402)
      expect(seen.text).toBe('')
      expect(seen.headers.has('payment-required')).toBe(true)
    }
    expect(app.gate.prepared + app.gate.calls.length).toBe(0)
  })

  test('HEAD on a free route has no body; on a POST route it is 405', async () => {
    const app = testApp()
    const seen = await send(app, { method: 'HEAD', target: '/v1/thing/1' })
    expect([seen.status, seen.text]).toEqual([200, ''])
    expect((await send(app, { method: 'HEAD', target: '/v1/order' })).status).toBe(405)
  })

  test('OPTIONS is answered without proof or payment and names methods and headers', async () => {
    const seen = await send(testApp(), { method: 'OPTIONS', target: '/v1/report/1', headers: paid })
    expect(seen.status).toBe(204)
    expect(seen.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    for (const name of ['PAYMENT-SIGNATURE', 'SIGN-IN-WITH-X', 'X-Affiliate-ID', 'Authorization'])
      expect(seen.headers.get('access-control-allow-headers')).toContain(name)
  })

  test('TRACE and unknown methods are 405, and override headers are ignored', async () => {
    const app = testApp()
    for (const method of ['TRACE', 'PATCH', 'FOO']) {
      const seen = await send(app, { method, target: '/v1/report/1', headers: paid })
      expect([seen.status, seen.headers.get('allow')], method).toEqual([405, 'GET, HEAD, OPTIONS'])
    }
    for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])
      expect((await send(app, { target: '/v1/order', headers: { ...paid, [name]: 'POST' } })).status, name).toBe(405)
    expect(app.gate.prepared).toBe(0)
  })
})

describe('names', () => {
  test('a name that is not configured is 421, and the resource never comes from Host', async () => {
    const app = testApp()
    for (const host of ['evil.test', 'node.test.evil', 'node.test:8080', '', null, 'localhost', '127.0.0.1'])
      expect((await send(app, { target: '/v1/thing/1', host })).status, String(host)).toBe(421)
    expect((await send(app, { target: '/v1/thing/1', host: 'NODE.test:443' })).status).toBe(200)
    const forwarded = { 'X-Forwarded-Host': 'evil.test', Forwarded: 'host=evil.test' }
    const seen = await send(app, { target: '/v1/report/1', headers: forwarded })
    expect(seen.json.resource.url).toBe('https://node.test/v1/report/1')
  })

  test('a paid route is sold only under its own name, free ones answer under both', async () => {
    const app = testApp()
    expect((await send(app, { target: '/v1/report/1', host: 'api.test' })).status).toBe(421)
    expect((await send(app, { target: '/v1/thing/1', host: 'api.test' })).status).toBe(200)
    expect(app.signer.signed.at(-1)?.authority).toBe('api.test')
  })

  test('two Host headers are refused', async () => {
    const app = testApp()
    const request = { target: '/v1/thing/1', headers: { host: 'evil.test' } }
    expect((await send(app, request)).status).toBe(400)
  })

  test('demo mode also answers to the loopback names of its port', async () => {
    const url = 'http://127.0.0.1:4020'
    const app = testApp({ config: { baseUrl: url, apiUrl: url, demo: true } as never })
    for (const host of ['localhost:4020', '127.0.0.1:4020', '[::1]:4020']) {
      const seen = await send(app, { target: '/v1/report/1', host })
      expect(seen.status, host).toBe(402)
      expect(seen.json.resource.url).toBe(`${url}/v1/report/1`)
    }
    expect((await send(app, { target: '/v1/thing/1', host: 'localhost:4021' })).status).toBe(421)
  })
})

describe('every response', () => {
  const requests: [string, SentRequest][] = [
    ['answer', { target: '/v1/thing/1' }],
    ['402', { target: '/v1/report/1' }],
    ['served', { target: '/v1/report/1', headers: paid }],
    ['404', { target: '/nothing' }],
    ['405', { method: 'PUT', target: '/v1/thing/1' }],
    ['400', { target: '/v1/thing/1?x=1' }],
    ['406', { target: '/v1/thing/1', headers: { Accept: 'image/png' } }],
    ['414', { target: `/v1/thing/${'1'.repeat(9000)}` }],
    ['421', { target: '/', host: 'evil.test' }],
    ['431', { target: '/', headers: { 'X-Long': 'x'.repeat(17_000) } }],
    ['204', { method: 'OPTIONS', target: '/v1/thing/1' }],
    ['bad target', { target: 'http://node.test/' }],
  ]

  test.each(requests)('is signed and carries next hop, CORS, limits and request id: %s', async (_name, request) => {
    const app = testApp()
    const { headers, status } = await send(app, request)
    for (const name of [
      'signature',
      'signature-input',
      'content-digest',
      'content-type',
      'x-x402-next',
      'x-request-id',
      'ratelimit',
      'ratelimit-policy',
      'cache-control',
      'x-content-type-options',
    ])
      expect(headers.has(name), name).toBe(true)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.has('access-control-allow-credentials')).toBe(false)
    for (const name of [
      'PAYMENT-REQUIRED',
      'Signature',
      'X-x402-Next',
      'X-X402-Royalty-Bps',
      'RateLimit',
      'Retry-After',
    ])
      expect(headers.get('access-control-expose-headers')).toContain(name)
    if (status >= 400) expect(headers.get('cache-control')).toBe('no-store')
    expect(app.signer.signed.at(-1)?.status).toBe(status)
  })

  test('of area C names the royalty, errors included; others only when paid', async () => {
    const app = testApp()
    const area = { method: 'POST', target: '/v1/note', host: 'api.test' }
    expect((await send(app, { ...area, body: '{"text":"x"}' })).headers.has('x-x402-royalty-bps')).toBe(true)
    expect((await send(app, { ...area, body: '{}' })).headers.has('x-x402-royalty-bps')).toBe(true)
    for (const method of ['PATCH', 'OPTIONS'])
      expect((await send(app, { ...area, method })).headers.has('x-x402-royalty-bps'), method).toBe(true)
    expect((await send(app, { target: '/v1/thing/1' })).headers.has('x-x402-royalty-bps')).toBe(false)
    expect((await send(app, { target: '/v1/report/1' })).headers.has('x-x402-royalty-bps')).toBe(false)
  })

  test('keeps a sane request id and replaces any other', async () => {
    const app = testApp()
    const idFor = async (id: string) =>
      (await send(app, { target: '/v1/thing/1', headers: { 'X-Request-Id': id } })).headers.get('x-request-id')
    expect(await idFor('trace-12345678')).toBe('trace-12345678')
    for (const id of ['short', 'x'.repeat(65), 'bad id with spaces', 'a\u001b[31mred12345']) {
      expect(await idFor(id)).toMatch(/^req_/)
    }
  })

  test('a failing handler is a signed 500 that tells nothing of its inside', async () => {
    const routes = fixtureRoutes()
    const thing = routes[0]
    if (thing?.access.kind === 'free')
      thing.access.handle = async () => {
        throw new Error('password=hunter2')
      }
    const seen = await send(testApp({ routes }), { target: '/v1/thing/1' })
    expect(seen.status).toBe(500)
    expect(seen.text).not.toContain('hunter2')
    expect(seen.headers.has('signature')).toBe(true)
  })
})

describe('input', () => {
  test('A32, E2, S22: too large, too deep or encoded is refused before it is held or parsed', async () => {
    const app = testApp()
    const order = { method: 'POST', target: '/v1/order' }
    expect((await send(app, { ...order, body: 'x'.repeat(2000) })).status).toBe(413)
    expect((await send(app, { ...order, headers: { 'Content-Length': '104857600' } })).status).toBe(413)
    expect((await send(app, { ...order, body: '{}', headers: { 'Content-Encoding': 'gzip' } })).status).toBe(415)
    const note = { method: 'POST', target: '/v1/note', host: 'api.test' }
    const deep = await send(app, { ...note, body: '['.repeat(60_000) })
    expect([deep.status, deep.json.problems[0].problem]).toEqual([400, 'is nested deeper than 32'])
    const typed = await send(app, { ...note, body: 'text=1', headers: { 'Content-Type': 'text/plain' } })
    expect(typed.status).toBe(415)
  })

  test('A33: prototype keys are refused and pollute nothing', async () => {
    const note = { method: 'POST', target: '/v1/note', host: 'api.test' }
    const seen = await send(testApp(), { ...note, body: '{"text":"x","__proto__":{"admin":true}}' })
    expect(seen.status).toBe(400)
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
  })

  test('attribution is known on every route and is no part of its input', async () => {
    const app = testApp()
    const seen = await send(app, { target: `/v1/thing/1?limit=2&ref=${wallet}&aff=${otherWallet}` })
    expect(seen.json).toEqual({ echo: { id: '1', limit: '2' } })
    for (const target of ['/v1/thing/1?ref=bob', `/v1/thing/1?aff=${wallet}&aff=${otherWallet}`])
      expect((await send(app, { target })).status, target).toBe(400)
    const headers = { 'X-Affiliate-ID': otherWallet }
    expect((await send(app, { target: `/v1/thing/1?aff=${wallet}`, headers })).status).toBe(400)
    expect((await send(app, { target: `/v1/thing/1?aff=${otherWallet}`, headers })).status).toBe(200)
  })

  test('E6, E12: traversal and query languages in parameters reach no handler as such', async () => {
    const app = testApp()
    for (const id of ['..%2f..%2fetc', '%2e%2e', '..', 'a%00', '%2fetc%2fpasswd'])
      expect((await send(app, { target: `/v1/thing/${id}` })).status, id).toBe(404)
    expect((await send(app, { target: "/v1/thing/1?sort=1';drop%20table" })).status).toBe(400)
  })

  test('a representation that is not offered is 406 and names the ones that are', async () => {
    const seen = await send(testApp(), { target: '/v1/thing/1', headers: { Accept: 'text/html' } })
    expect([seen.status, seen.json.available]).toEqual([406, ['application/json']])
  })

  test('a handler that does not end in time is 503, is aborted, and a stream it opens all the same is closed', async () => {
    let nowMs = 0
    const waiting: (() => void)[] = []
    const clock = {
      nowMs: () => nowMs,
      monotonicMs: () => nowMs,
      sleep: () => new Promise<void>((resolve) => waiting.push(resolve)),
    }
    const routes = fixtureRoutes()
    let stopped: unknown
    let late: (answer: AnswerContent) => void = () => {}
    const thing = routes[0]
    if (thing?.access.kind === 'free')
      thing.access.handle = (_input, call) =>
        new Promise((resolve) => {
          late = resolve
          call.signal.addEventListener('abort', () => {
            stopped = call.signal.reason
          })
        })
    const answer = send(testApp({ routes }, clock), { target: '/v1/thing/1' })
    await expect.poll(() => waiting.length).toBeGreaterThan(0)
    nowMs = 15_001
    for (const wake of waiting) wake()
    expect((await answer).status).toBe(503)
    expect(stopped).toBeInstanceOf(Problem)
    let closed = false
    const done = { done: true as const, value: undefined }
    const leave = async () => {
      closed = true
      return done
    }
    const body = { [Symbol.asyncIterator]: () => ({ next: async () => done, return: leave }) }
    late({ status: 200, contentType: 'text/event-stream', body })
    await expect.poll(() => closed).toBe(true)
  })
})
