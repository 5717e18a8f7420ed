import { systemClock } from '@assay/till/kernel/clock'
import { silentMetrics, traced } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import { expect, test } from 'vitest'
import { createMetrics } from '../../http/metrics.ts'
import { encodeMetrics } from './encode-otlp.ts'
import { createSpanRecorder } from './span-recorder.ts'

test('spans that nobody takes are bounded, and those beyond are counted', async () => {
  const recorder = createSpanRecorder({ clock: systemClock, rng: systemRng })
  for (let index = 0; index < 5_000; index += 1) await recorder.span('work', { index }, async () => index)
  expect([recorder.waiting(), recorder.dropped()]).toEqual([2_048, 2_952])
  expect(recorder.take(512)).toHaveLength(512)
  await recorder.span('work', {}, async () => 0)
  expect(recorder.waiting()).toBe(1_537)
})

test('work within work is its child, work beside it is not, and what fails is marked and fails on', async () => {
  const recorder = createSpanRecorder({ clock: systemClock, rng: systemRng })
  await recorder.span('outer', {}, async (set) => {
    await Promise.all(['left', 'right'].map((name) => recorder.span(name, {}, async () => name)))
    set({ outcome: 'done' })
  })
  await expect(recorder.span('alone', {}, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  const spans = new Map(recorder.take(9).map((span) => [span.name, span]))
  const outer = spans.get('outer')
  for (const name of ['left', 'right'])
    expect(spans.get(name)).toMatchObject({ parentId: outer?.spanId, traceId: outer?.traceId, failed: false })
  expect(outer).toMatchObject({ parentId: undefined, attributes: { outcome: 'done' } })
  expect(spans.get('alone')).toMatchObject({ parentId: undefined, failed: true })
  expect(spans.get('alone')?.traceId).not.toBe(outer?.traceId)
})

test('nothing is wrapped where nothing is traced', async () => {
  expect(createMetrics().span).toBeUndefined()
  const work = Promise.resolve(1)
  expect(traced(silentMetrics, 'work', {}, () => work)).toBe(work)
})

test('counters, gauges and histograms are exported as OTLP has them', async () => {
  const metrics = createMetrics()
  metrics.count('sales', { route: 'echo' }, 3)
  metrics.gauge('peers', 2)
  for (const ms of [1, 30, 40_000]) metrics.observeMs('call', ms, { route: 'echo' })
  const resource = { serviceName: 'assay', version: '1', instance: 'a' }
  const body = JSON.parse(encodeMetrics(resource, await metrics.families(), { startMs: 1, nowMs: 2 }))
  const [sales, peers, call] = body.resourceMetrics[0].scopeMetrics[0].metrics
  expect(sales).toMatchObject({
    name: 'assay_sales_total',
    sum: { isMonotonic: true, aggregationTemporality: 2, dataPoints: [{ asDouble: 3, timeUnixNano: '2000000' }] },
  })
  expect(peers).toMatchObject({ name: 'assay_peers', gauge: { dataPoints: [{ asDouble: 2 }] } })
  const [point] = call.histogram.dataPoints
  expect(point).toMatchObject({ count: '3', attributes: [{ key: 'route', value: { stringValue: 'echo' } }] })
  expect(point.bucketCounts).toHaveLength(point.explicitBounds.length + 1)
  expect(point.bucketCounts.map(Number).reduce((sum: number, count: number) => sum + count, 0)).toBe(3)
  expect([point.bucketCounts[0], point.bucketCounts.at(-1)]).toEqual(['1', '1'])
})
