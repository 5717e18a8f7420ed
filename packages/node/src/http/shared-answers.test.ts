import { describe, expect, test } from 'vitest'
import { fixtureRoutes, type SentRequest, send, testApp, wallet } from './http-app.fixture.ts'

const paid = { 'PAYMENT-SIGNATURE': 'good' }

describe('limits', () => {
  test('A47: an exhausted caller is 429 with Retry-After before the gate is asked; others are not affected', async () => {
    const app = testApp({ config: { limits: { perSecond: 1, burst: 3 } } as never })
    const statuses: number[] = []
    for (let i = 0; i < 5; i += 1) statuses.push((await send(app, { target: '/v1/report/1' })).status)
    expect(statuses).toEqual([402, 402, 402, 429, 429])
    const seen = await send(app, { target: '/v1/report/1', headers: paid })
    expect(seen.status).toBe(429)
    expect(Number(seen.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(app.gate.calls).toHaveLength(0)
    expect((await send(app, { target: '/v1/report/1', remoteAddress: '198.51.100.2' })).status).toBe(402)
  })

  test('past the cap on requests in flight free callers are shed first', async () => {
    const routes = fixtureRoutes()
    const thing = routes[0]
    const waiting: (() => void)[] = []
    if (thing?.access.kind === 'free')
      thing.access.handle = () =>
        new Promise((resolve) => {
          waiting.push(() => resolve({ status: 200, contentType: 'text/plain', body: '' }))
        })
    const app = testApp({ routes, config: { load: { inFlightMax: 5 } } as never })
    const held = Array.from({ length: 4 }, (_, i) => send(app, { target: `/v1/thing/${i}` }))
    const shed = await send(app, { target: '/v1/report/2' })
    expect([shed.status, shed.headers.has('retry-after')]).toEqual([503, true])
    expect((await send(app, { target: '/v1/report/2', headers: paid })).status).toBe(200)
    for (const finish of waiting) finish()
    for (const response of await Promise.all(held)) expect(response.status).toBe(200)
  })
})

describe('shared answers', () => {
  test('what was asked for twice is given again with the same bytes and signature, and its own request id', async () => {
    const app = testApp()
    await send(app, { target: '/cached' })
    const first = await send(app, { target: '/cached' })
    const second = await send(app, { target: '/cached' })
    expect(app.signer.signed).toHaveLength(2)
    expect(second.text).toBe(first.text)
    expect(second.headers.get('signature')).toBe(first.headers.get('signature'))
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect(second.headers.get('cache-control')).toBe('public, max-age=5')
  })

  test('another method, query, host, accept or any credential takes the long way', async () => {
    const app = testApp()
    await send(app, { target: '/cached' })
    await send(app, { target: '/cached' })
    const others: SentRequest[] = [
      { method: 'HEAD', target: '/cached' },
      { target: `/cached?ref=${wallet}` },
      { target: '/cached', host: 'api.test' },
      { target: '/cached', headers: { Accept: 'application/json' } },
      { target: '/cached', headers: { Authorization: 'x' } },
      { target: '/cached', headers: { 'X-Affiliate-ID': wallet } },
    ]
    for (const other of others) await send(app, other)
    expect(app.signer.signed).toHaveLength(2 + others.length)
  })

  test('end after five seconds, and at once when cleared', async () => {
    let nowMs = 1_000
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: () => new Promise<void>(() => {}) }
    const app = testApp({}, clock)
    await send(app, { target: '/v1/report/1' })
    await send(app, { target: '/v1/report/1' })
    nowMs += 4_999
    await send(app, { target: '/v1/report/1' })
    expect(app.signer.signed).toHaveLength(2)
    nowMs += 1
    await send(app, { target: '/v1/report/1' })
    expect(app.signer.signed).toHaveLength(3)
    app.clearSharedAnswers()
    await send(app, { target: '/v1/report/1' })
    expect(app.signer.signed).toHaveLength(4)
  })
})
