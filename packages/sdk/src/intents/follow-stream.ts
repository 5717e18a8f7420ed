import type { AssayClient } from '../client.ts'
import type { AssayResult } from '../context.ts'
import { AssayError } from '../errors.ts'
import { defaultPlatform, type Platform } from '../platform.ts'
import { readJson } from '../read-json.ts'
import { createEventParser } from './parse-events.ts'
import { type CloudEvent, type EventVerification, verifyEvent } from './verify-event.ts'

export type StreamedEvent = {
  /** Where to come back to; undefined for events that have no place in the stream. */
  id: string | undefined
  /** `tick`, `bucket`, `snapshot`, `subscription`, `gap`, `end`. */
  name: string
  event: CloudEvent
  /** The text as received, to keep as evidence. */
  json: string
  verified: EventVerification
}

export type FollowOptions = {
  node: string
  path: string
  /** Of a subscription; without one the stream is bought if `buy` allows it. */
  token?: string | undefined
  /** Other headers that prove the wallet, such as SIGN-IN-WITH-X; made again for every connection. */
  headers?: () => Promise<Record<string, string>>
  /** Pay for it when nothing opens it. The client's own maximum must allow the price. */
  buy?: boolean
  lastEventId?: string | undefined
  signal?: AbortSignal
  /** Connections in a row that brought nothing, before giving up. */
  attemptsMax?: number
  /** Silence after which the connection counts as dead: a node says something every 15 seconds. */
  silenceMsMax?: number
  onReconnect?: (reason: string) => void
  platform?: Pick<Platform, 'sleep' | 'timeout'>
}

type StreamClient = Pick<AssayClient, 'fetch' | 'quote' | 'pinnedKeys'>

/** Reasons of an `end` that coming back does not cure. */
const finalReasons = new Set(['expired', 'token_ended'])

/**
 * A stream of signed events that comes back by itself where it was, and never pays twice: what was bought is opened with
 * its token from then on. Ends with the subscription or with the signal; an event whose signature is wrong ends it with
 * an error.
 */
export async function* followStream(client: StreamClient, options: FollowOptions): AsyncGenerator<StreamedEvent> {
  const { node, path, signal, attemptsMax = 10, platform = defaultPlatform } = options
  const url = new URL(path, node)
  let { token, lastEventId } = options
  let failures = 0
  let retryMs = 5_000
  while (!signal?.aborted) {
    let over = false
    try {
      const response = await open(client, url, { ...options, token, lastEventId })
      for await (const received of readStream(client, url, response, options, (ms) => (retryMs = ms))) {
        failures = 0
        if (received.id !== undefined) lastEventId = received.id
        const { data } = received.event
        if (received.name === 'subscription' && typeof data['token'] === 'string') token = data['token']
        yield received
        if (received.name === 'end') over = finalReasons.has(String(data['reason']))
      }
      if (over) return
      options.onReconnect?.('the stream ended')
    } catch (error) {
      if (signal?.aborted) return
      if (error instanceof AssayError && error.code !== 'request_failed') throw error
      if (isRefusal(error)) throw error
      failures += 1
      if (failures >= attemptsMax) throw error
      options.onReconnect?.(error instanceof Error ? error.message : String(error))
    }
    await platform.sleep(Math.min(60_000, retryMs * 2 ** Math.max(0, failures - 1)), signal ?? null).catch(() => {})
  }
}

/** The node said no, and will say so again. */
function isRefusal(error: unknown): boolean {
  const status = error instanceof AssayError ? Number(error.details['status']) : Number.NaN
  return status >= 400 && status < 500 && status !== 408 && status !== 409 && status !== 429
}

async function open(client: StreamClient, url: URL, options: FollowOptions): Promise<Response> {
  const { token, lastEventId, signal } = options
  const init: RequestInit = {
    headers: {
      accept: 'text/event-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      ...(await options.headers?.()),
    },
    ...(signal === undefined ? {} : { signal }),
  }
  const result = await answer(client, url, init, options.buy === true && token === undefined)
  const { response } = result
  if (response.status === 200 && (response.headers.get('content-type') ?? '').startsWith('text/event-stream'))
    return response
  await readJson(result)
  throw new AssayError('request_failed', { detail: 'the node answered with something else than a stream' })
}

async function answer(client: StreamClient, url: URL, init: RequestInit, buy: boolean): Promise<AssayResult> {
  if (buy) return client.fetch(url, init)
  const outcome = await client.quote(url, init)
  if (outcome.status === 'answered') return outcome.result
  throw new AssayError('request_failed', {
    detail: `this stream costs ${outcome.quote.priceUsd} USD: give a token, or allow buying it`,
    status: 402,
  })
}

async function* readStream(
  client: StreamClient,
  url: URL,
  response: Response,
  { silenceMsMax = 60_000, platform = defaultPlatform, signal }: FollowOptions,
  onRetry: (ms: number) => void,
): AsyncGenerator<StreamedEvent> {
  const reader = response.body?.getReader()
  if (!reader) return
  const parser = createEventParser()
  const decoder = new TextDecoder()
  const stop = () => void reader.cancel().catch(() => {})
  signal?.addEventListener('abort', stop, { once: true })
  try {
    for (;;) {
      const silence = platform.timeout(silenceMsMax)
      silence.signal.addEventListener('abort', stop, { once: true })
      const { done, value } = await reader.read().finally(silence.clear)
      if (done) return
      for (const { id, event: name, data: json } of parser.push(decoder.decode(value, { stream: true }))) {
        const verified = await verifyEvent(json, client.pinnedKeys(url.origin) ?? new Map())
        if (verified.status === 'invalid') throw new AssayError('signature_invalid', { detail: verified.reason })
        yield { id, name, event: JSON.parse(json) as CloudEvent, json, verified }
      }
      const retry = parser.retryMs()
      if (retry !== undefined) onRetry(retry)
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
  }
}
