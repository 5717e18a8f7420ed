import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { Clock } from '@assay/till/kernel/clock'
import { ended, linkSignals } from './linked-signal.ts'
import type { FailedReason, RefusedReason } from './outcome.ts'
import { BodyProblem, readBody } from './read-body.ts'
import { TimeIsUp } from './time-limit.ts'

export type ExchangeRequest = {
  clock: Clock
  url: URL
  /** The address that was checked: nothing below resolves the name again. */
  address: string
  port: number
  secure: boolean
  method: 'GET' | 'HEAD' | 'POST'
  body?: string
  headers: Record<string, string>
  maxBytes: number
  onTooLarge: 'fail' | 'cut'
  accept: readonly string[]
  connectMs: number
  agents: Agents
  certificateAuthority?: string
  signal: AbortSignal
}

/** Idle connections by checked address, port and server name: one that fits is as good as a new one to that address. */
export type Agents = { http: http.Agent; https: https.Agent }

export function createAgents(): Agents {
  const idle = { keepAlive: true, maxFreeSockets: 512, timeout: idleMs }
  return { http: new http.Agent(idle), https: new https.Agent(idle) }
}

const idleMs = 5_000

export type Exchange =
  | { status: 'ok'; httpStatus: number; headers: ReadonlyMap<string, string>; bytes: Uint8Array; cut: boolean }
  | { status: 'refused'; reason: RefusedReason; detail: string }
  | { status: 'failed'; reason: FailedReason; detail: string; retryable: boolean }

const headerBytesMax = 32 * 1024

/** One request over one connection. A kept connection that the other side had closed is no answer: then a new one is made. */
export async function exchangeOnce(request: ExchangeRequest): Promise<Exchange> {
  // A kept connection that breaks under a POST would leave open whether it arrived.
  const first = await exchangeOver(request, request.method === 'POST' ? false : request.agents)
  return first === 'stale' ? ((await exchangeOver(request, false)) as Exchange) : first
}

async function exchangeOver(request: ExchangeRequest, agents: Agents | false): Promise<Exchange | 'stale'> {
  const gone = linkSignals([request.signal])
  let response: http.IncomingMessage | undefined
  try {
    response = await openResponse(request, agents, gone.signal)
    return await readAnswer(request, response, gone.signal)
  } catch (error) {
    if (error instanceof StaleConnection && !request.signal.aborted) return 'stale'
    return failureOf(error, request.signal)
  } finally {
    response?.destroy()
    gone.abort(ended)
    gone.release()
  }
}

function openResponse(
  request: ExchangeRequest,
  agents: Agents | false,
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  const options: https.RequestOptions = {
    host: request.address,
    port: request.port,
    method: request.method,
    path: `${request.url.pathname}${request.url.search}`,
    headers: request.headers,
    setHost: false,
    agent: agents === false ? false : request.secure ? agents.https : agents.http,
    maxHeaderSize: headerBytesMax,
    signal,
    ...(request.secure
      ? {
          servername: request.url.hostname.replace(/\.$/, ''),
          minVersion: 'TLSv1.2' as const,
          rejectUnauthorized: true,
          ...(request.certificateAuthority === undefined ? {} : { ca: request.certificateAuthority }),
        }
      : {}),
  }
  return new Promise((resolve, reject) => {
    const outgoing = (request.secure ? https : http).request(options)
    outgoing.on('socket', (socket) => {
      if (!outgoing.reusedSocket) limitConnecting(request, outgoing, socket, signal)
    })
    outgoing.on('response', resolve)
    outgoing.on('error', (error) => {
      reject(outgoing.reusedSocket ? new StaleConnection('stale', { cause: error }) : error)
    })
    // 101 without our asking: the connection is no longer HTTP.
    outgoing.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(Object.assign(new Error('the server switched protocols'), { code: 'HPE_UPGRADE' }))
    })
    outgoing.end(request.body)
  })
}

/** Destroys a request whose connection does not come about within the time allowed. */
function limitConnecting(
  { clock, connectMs, secure }: ExchangeRequest,
  outgoing: http.ClientRequest,
  socket: Socket,
  signal: AbortSignal,
): void {
  const connecting = linkSignals([signal])
  clock
    .sleep(connectMs, connecting.signal)
    .then(
      () => outgoing.destroy(new ConnectTimeout()),
      () => {},
    )
    .finally(() => connecting.release())
  for (const event of [secure ? 'secureConnect' : 'connect', 'close']) socket.once(event, () => connecting.abort(ended))
}

async function readAnswer(
  request: ExchangeRequest,
  response: http.IncomingMessage,
  signal: AbortSignal,
): Promise<Exchange> {
  const headers = headersOf(response)
  const httpStatus = response.statusCode ?? 0
  const redirect = httpStatus >= 300 && httpStatus < 400 && headers.has('location')
  if (redirect || request.method === 'HEAD')
    return { status: 'ok', httpStatus, headers, bytes: new Uint8Array(), cut: false }
  const mediaType = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (httpStatus >= 200 && httpStatus < 300 && !accepted(mediaType, request.accept))
    return { status: 'refused', reason: 'content_type', detail: `the answer is ${mediaType || 'of no stated type'}` }
  const { bytes, cut } = await readBody(response, headers.get('content-encoding') ?? '', request, signal)
  // A stream that we cut off ends like one that was complete.
  if (request.signal.aborted || (!cut && !response.complete)) throw new Error('incomplete')
  return { status: 'ok', httpStatus, headers, bytes, cut }
}

function headersOf(response: http.IncomingMessage): Map<string, string> {
  const headers = new Map<string, string>()
  for (let index = 0; index + 1 < response.rawHeaders.length; index += 2) {
    const name = (response.rawHeaders[index] ?? '').toLowerCase()
    const value = response.rawHeaders[index + 1] ?? ''
    if (name === 'set-cookie') continue
    const earlier = headers.get(name)
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
  }
  return headers
}

function accepted(mediaType: string, accept: readonly string[]): boolean {
  if (accept.length === 0) return true
  return accept.some((wanted) =>
    wanted.endsWith('/*') ? mediaType.startsWith(wanted.slice(0, -1)) : wanted === mediaType,
  )
}

class ConnectTimeout extends Error {}
class StaleConnection extends Error {}

const tlsCodes = /^(?:ERR_TLS|ERR_SSL|CERT_|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH)/
const connectCodes = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EADDRNOTAVAIL'])

function failureOf(error: unknown, outer: AbortSignal): Exchange {
  const failed = (reason: FailedReason, detail: string, retryable = true): Exchange => ({
    status: 'failed',
    reason,
    detail,
    retryable,
  })
  if (outer.aborted)
    return outer.reason instanceof TimeIsUp
      ? failed('timeout', 'the time was up')
      : failed('aborted', 'the caller gave up')
  if (error instanceof BodyProblem) return failed(error.reason, error.message, false)
  if (error instanceof ConnectTimeout) return failed('connect', 'no connection within the time allowed')
  const code = String((error as { code?: unknown }).code ?? '')
  if (tlsCodes.test(code)) return failed('tls', `the certificate or TLS handshake was refused (${code})`, false)
  if (connectCodes.has(code)) return failed('connect', `no connection (${code})`)
  if (
    code.startsWith('Z_') ||
    code.startsWith('ERR__ERROR_FORMAT') ||
    code.startsWith('ERR_PADDING') ||
    code === 'ERR_BUFFER_TOO_LARGE' ||
    code.startsWith('ERR__')
  )
    return failed('encoding', 'the compressed body is damaged', false)
  return failed('protocol', `the answer broke off or is not HTTP (${code || 'no code'})`, !code.startsWith('HPE_'))
}
