import type { ReadinessCheck } from '@assay/till/compose'
import { systemClock } from '@assay/till/kernel/clock'
import { knownProblems } from '@assay/till/kernel/problem'
import { expect, test } from 'vitest'
import { errorRoutes } from '../../http/error-pages.ts'
import { send, testApp } from '../../http/http-app.fixture.ts'
import { createMetrics } from '../../http/metrics.ts'
import { opsRoutes } from './routes.ts'

function appWith(checks: readonly ReadinessCheck[], metricsPublic = false) {
  const metrics = createMetrics()
  const routes = [...opsRoutes({ checks, routes: [], metrics, metricsPublic, clock: systemClock }), ...errorRoutes]
  return testApp({ routes, metrics })
}

test('livez answers without any dependency; readyz names every check', async () => {
  const app = appWith([
    { name: 'database', check: async () => true },
    { name: 'chain', check: async () => Promise.reject(new Error('down')) },
  ])
  expect((await send(app, { target: '/livez' })).json).toEqual({ status: 'ok' })
  const seen = await send(app, { target: '/readyz' })
  expect(seen.status).toBe(503)
  expect(seen.json.checks).toEqual({ database: 'ok', chain: 'failed' })
  const ready = await send(appWith([{ name: 'database', check: async () => true }]), { target: '/readyz' })
  expect([ready.status, ready.json]).toEqual([200, { status: 'ready', checks: { database: 'ok' }, not_for_sale: [] }])
})

test('probes are answered under whatever name they come: load balancers know nothing but an address', async () => {
  const app = appWith([], true)
  for (const target of ['/livez', '/readyz', '/metrics'])
    expect((await send(app, { target, headers: { Host: '10.1.2.3:8080' } })).status, target).toBe(200)
  expect((await send(app, { target: '/errors', headers: { Host: '10.1.2.3:8080' } })).status).toBe(421)
})

test('a shop that cannot work leaves the node ready for what the others sell', async () => {
  const seen = await send(
    appWith([
      { name: 'database', check: async () => true },
      { name: 'market data', partial: true, check: async () => false },
    ]),
    { target: '/readyz' },
  )
  expect([seen.status, seen.json.checks]).toEqual([200, { database: 'ok', 'market data': 'failed' }])
})

test('metrics are for this machine alone unless the operator says otherwise', async () => {
  const app = appWith([])
  const local = { target: '/metrics', remoteAddress: '127.0.0.1' }
  await send(app, { target: '/livez' })
  const seen = await send(app, local)
  expect(seen.text).toContain('assay_http_requests_total{route="ops.livez",status="200"} 1')
  expect((await send(app, { target: '/metrics' })).status).toBe(404)
  expect((await send(app, { ...local, headers: { 'X-Forwarded-For': '1.2.3.4' } })).status).toBe(404)
  expect((await send(appWith([], true), { target: '/metrics' })).status).toBe(200)
})

test('answers from memory are counted too', async () => {
  const app = appWith([])
  for (let i = 0; i < 5; i += 1) await send(app, { target: '/errors' })
  const { text } = await send(app, { target: '/metrics', remoteAddress: '127.0.0.1' })
  expect(text).toContain('assay_http_requests_total{route="errors.list",status="200"} 5')
})

test('the type of every problem resolves to an explanation', async () => {
  const app = appWith([])
  for (const { code } of knownProblems()) {
    const seen = await send(app, { target: `/errors/${code}` })
    expect([seen.status, seen.json.code], code).toEqual([200, code])
  }
  const missing = await send(app, { target: '/errors/constructor' })
  expect([missing.status, missing.json.type]).toEqual([404, 'https://node.test/errors/not_found'])
})

test('series are bounded and odd labels do not throw', async () => {
  const metrics = createMetrics()
  for (let i = 0; i < 3_000; i += 1) metrics.count('many', { id: String(i) })
  metrics.count('many', { other: 'x' })
  metrics.gauge('level', 5)
  metrics.observeMs('step', 20, { name: 'a' })
  const text = await metrics.text()
  expect(text.split('\n').filter((line) => line.startsWith('assay_many_total{')).length).toBeLessThanOrEqual(2_001)
  expect(text).toContain('assay_level 5')
  expect(text).toContain('assay_step_seconds_sum{name="a"} 0.02')
})
