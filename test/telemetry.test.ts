import { createServer } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { onLoopback } from '../packages/till/src/kernel/on-loopback.fixture.ts'
import { buy, echoPath } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

type Span = { traceId: string; spanId: string; parentSpanId?: string; name: string; attributes: { key: string }[] }

let hangs = false
const received: { path: string; token: string | undefined; text: string }[] = []
const collector = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  received.push({ path: request.url ?? '', token: request.headers['x-token'] as string | undefined, text })
  if (!hangs) response.end('{}')
})
const { url: collectorUrl, close } = await onLoopback(collector)
afterAll(close)

const till = useTill({ ownShops: 'till' })
const env = () => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-token=secret',
})

test('a purchase is one trace from the request to the chain, and names nobody', async () => {
  expect(received).toEqual([])
  const node = await till.startAnother({ env: env() })
  const buyer = await till.newBuyer()
  const identifier = 'secret-identifier-of-this-purchase'
  expect((await buy(buyer, `${node.url}${echoPath}?message=private-words`, { identifier })).status).toBe(200)
  await node.stop()
  const bodies = received.filter(({ path }) => path === '/v1/traces').map(({ text }) => JSON.parse(text))
  const spans: Span[] = bodies.flatMap((body) => body.resourceSpans[0].scopeSpans[0].spans)
  const settle = spans.find(({ name }) => name === 'settle')
  const trace = spans.filter(({ traceId }) => traceId === settle?.traceId)
  const names = new Set(trace.map(({ name }) => name))
  for (const name of ['request', 'claim', 'prepare', 'settle']) expect(names, name).toContain(name)
  expect([...names].some((name) => name.startsWith('rpc eth_'))).toBe(true)
  const request = trace.find(({ name }) => name === 'request')
  expect(request?.parentSpanId).toBeUndefined()
  for (const { parentSpanId, name } of trace)
    if (name !== 'request')
      expect(
        trace.some(({ spanId }) => spanId === parentSpanId),
        name,
      ).toBe(true)
  const metrics = received.filter(({ path }) => path === '/v1/metrics')
  expect(metrics.at(-1)?.text).toContain('assay_payments_served_total')
  const all = received.map(({ text }) => text.toLowerCase()).join('\n')
  for (const secret of [buyer.address.toLowerCase(), buyer.address.slice(2).toLowerCase(), identifier, 'private-words'])
    expect(all).not.toContain(secret)
  expect(new Set(received.map(({ token }) => token))).toEqual(new Set(['secret']))
})

test('a collector that hangs keeps nobody waiting', async () => {
  hangs = true
  const node = await till.startAnother({ env: env() })
  const buyer = await till.newBuyer()
  for (const message of ['one', 'two', 'three'])
    expect((await buy(buyer, `${node.url}${echoPath}?message=${message}`)).status).toBe(200)
  await node.stop()
})
