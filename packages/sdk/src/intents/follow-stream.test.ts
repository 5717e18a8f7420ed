import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { AssayError } from '../errors.ts'
import { followOptionTrades } from '../options/follow-trades.ts'
import { followStream, type StreamedEvent } from './follow-stream.ts'
import { verifyEvent } from './verify-event.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const { x = '' } = publicKey.export({ format: 'jwk' })
const keys = new Map([['k1', { keyId: 'k1', x, notBefore: 0, notAfter: undefined }]])
const base64url = (text: string) => Buffer.from(text).toString('base64url')

function signedJson(id: string, data: Record<string, unknown>): string {
  const text = JSON.stringify(data)
  const attributes = { specversion: '1.0', id, datasha256: createHash('sha256').update(text).digest('hex') }
  const input = `${base64url(JSON.stringify({ alg: 'EdDSA', kid: 'did:web:node#k1' }))}.${base64url(JSON.stringify(attributes))}`
  const signature = `${input}.${sign(null, Buffer.from(input), privateKey).toString('base64url')}`
  return `${JSON.stringify({ ...attributes, signature }).slice(0, -1)},"data":${text}}`
}

const sse = (id: string | null, name: string, data: Record<string, unknown>) =>
  `${id === null ? '' : `id: ${id}\n`}event: ${name}\ndata: ${signedJson(id ?? name, data)}\n\n`

type Asked = { headers: Headers; paid: boolean }

/** A node that gives one prepared stream for each connection, and 503 when there are none left. */
function node(streams: (string | number)[]) {
  const asked: Asked[] = []
  const answer = (init: RequestInit | undefined, paid: boolean) => {
    asked.push({ headers: new Headers(init?.headers), paid })
    const next = streams.shift() ?? 503
    const response =
      typeof next === 'number'
        ? Response.json({ detail: 'no' }, { status: next })
        : new Response(next, { headers: { 'content-type': 'text/event-stream' } })
    return { response, payment: { status: 'none' }, receipt: undefined, purchase: undefined } as never
  }
  const client = {
    fetch: async (_url: string | URL, init?: RequestInit) => answer(init, true),
    quote: async (_url: string | URL, init?: RequestInit) => ({
      status: 'answered' as const,
      result: answer(init, false),
    }),
    pinnedKeys: () => keys,
  }
  return { client, asked }
}

const platform = {
  sleep: async () => {},
  timeout: () => ({ signal: new AbortController().signal, clear: () => {} }),
}
const options = { node: 'http://node.test', path: '/s', platform, attemptsMax: 2 }

async function collect(events: AsyncGenerator<StreamedEvent>): Promise<string[]> {
  const seen: string[] = []
  for await (const { id, name } of events) seen.push(id ?? name)
  return seen
}

test('it comes back where it was, pays once, and ends with the subscription', async () => {
  const { client, asked } = node([
    sse(null, 'subscription', { token: 'asub_new' }) + sse('0-1', 'tick', { demand: 1 }),
    503,
    sse(null, 'subscription', { token: null }) + sse('0-2', 'tick', {}) + sse(null, 'end', { reason: 'expired' }),
  ])
  const seen = await collect(followStream(client, { ...options, buy: true }))
  expect(seen).toEqual(['subscription', '0-1', 'subscription', '0-2', 'end'])
  expect(asked.map(({ paid }) => paid)).toEqual([true, false, false])
  expect(asked.map(({ headers }) => headers.get('last-event-id'))).toEqual([null, '0-1', '0-1'])
  expect(asked.map(({ headers }) => headers.get('authorization'))).toEqual([null, 'Bearer asub_new', 'Bearer asub_new'])
})

test('a refusal is final, an outage is not forever', async () => {
  const refused = node([401])
  await expect(collect(followStream(refused.client, { ...options, token: 'asub_old' }))).rejects.toMatchObject({
    details: { status: 401 },
  })
  expect(refused.asked).toHaveLength(1)
  const down = node([])
  await expect(collect(followStream(down.client, { ...options, token: 't' }))).rejects.toBeInstanceOf(AssayError)
  expect(down.asked).toHaveLength(2)
})

test('an event that was changed on its way ends the stream with an error', async () => {
  const altered = sse('0-1', 'tick', { demand: 10 }).replace('"demand":10', '"demand":99')
  await expect(collect(followStream(node([altered]).client, { ...options, token: 't' }))).rejects.toMatchObject({
    code: 'signature_invalid',
  })
})

test.each([
  ['not JSON', 'nonsense', 'not a signed event'],
  ['another key', signedJson('1', {}).replace('"signature":"ey', '"signature":"e1'), 'the key is not known'],
  ['another id', signedJson('1', {}).replace('"id":"1"', '"id":"2"'), 'the signature is over another event'],
  [
    'a further member',
    signedJson('1', {}).replace('"id":"1"', '"id":"1","more":1'),
    'the signature is over another event',
  ],
  [
    'data put in front',
    signedJson('1', {}).replace('"id":"1"', '"id":"1","data":{}'),
    'the signature is not a compact JWS',
  ],
])('%s does not pass for a signed event', async (_what, json, reason) => {
  expect(await verifyEvent(json, keys)).toEqual({ status: 'invalid', reason })
})

test('a signal ends it quietly', async () => {
  const stop = new AbortController()
  const { client } = node([sse('0-1', 'tick', {})])
  const seen: string[] = []
  for await (const { id } of followStream(client, { ...options, token: 't', signal: stop.signal })) {
    seen.push(id ?? '')
    stop.abort()
  }
  expect(seen).toEqual(['0-1'])
})

test('trades of the options exchange are read one by one, after the last one seen', async () => {
  const { client, asked } = node([
    `retry: 5000\n\n: still here\n\n${sse('7', 'trade', { trade_id: '7', symbol: 'TC-1', kind: 'sale' })}`,
    sse('8', 'trade', { trade_id: '8', symbol: 'TC-1', kind: 'close' }),
  ])
  const seen: string[] = []
  const following = async () => {
    for await (const { trade } of followOptionTrades(client, 'http://node.test', {
      symbol: 'TC-1',
      platform,
      attemptsMax: 1,
    }))
      seen.push(`${trade.trade_id} ${trade.kind}`)
  }
  await expect(following()).rejects.toThrow()
  expect(seen).toEqual(['7 sale', '8 close'])
  expect(asked.map(({ headers, paid }) => [headers.get('last-event-id'), paid])).toEqual([
    [null, false],
    ['7', false],
    ['8', false],
  ])
})
