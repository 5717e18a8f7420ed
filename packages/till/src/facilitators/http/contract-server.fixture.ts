import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, decodeProtectedHeader, jwtVerify, type KeyObject } from 'jose'
import { onLoopback } from '../../kernel/on-loopback.fixture.ts'

export type SeenCall = { method: string; path: string; headers: IncomingMessage['headers']; body: unknown }
export type Play = (response: ServerResponse, call: SeenCall) => void | Promise<void>

export type ContractServer = {
  /** Base address as a facilitator has it, with a path before the calls. */
  baseUrl: string
  calls: SeenCall[]
  /** What the next calls get; the last one stays. */
  play(...acts: Play[]): void
  /** From now on every call needs a token of this key for exactly its method and path. */
  requireKey(key: { id: string; algorithm: string; publicKey: CryptoKey | KeyObject }): void
  stop(): Promise<void>
}

const basePath = '/platform/v2/x402'

/** A hosted facilitator as far as its callers can tell, with all its faults on demand. */
export async function startContractServer(): Promise<ContractServer> {
  const calls: SeenCall[] = []
  let acts: Play[] = [json(200, {})]
  let key: Parameters<ContractServer['requireKey']>[0] | undefined
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString('utf8')
    const call: SeenCall = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
    calls.push(call)
    const problem = key
      ? await tokenProblem(call, key, `127.0.0.1:${(server.address() as AddressInfo).port}`)
      : undefined
    if (problem) return json(401, { errorType: 'unauthorized', errorMessage: problem })(response, call)
    const act = acts.length > 1 ? acts.shift() : acts[0]
    await act?.(response, call)
  })
  const { url, close } = await onLoopback(server)
  return {
    baseUrl: `${url}${basePath}`,
    calls,
    play: (...next) => {
      acts = next
    },
    requireKey: (required) => {
      key = required
    },
    stop: close,
  }
}

/** Why the token of a call is not good for it; undefined when it is. */
export async function tokenProblem(
  call: SeenCall,
  key: { id: string; algorithm: string; publicKey: CryptoKey | KeyObject },
  host: string,
): Promise<string | undefined> {
  const token = /^Bearer (\S+)$/.exec(call.headers.authorization ?? '')?.[1]
  if (!token) return 'no token'
  try {
    const header = decodeProtectedHeader(token)
    const { payload } = await jwtVerify(token, key.publicKey, {
      algorithms: [key.algorithm],
      issuer: 'cdp',
      subject: key.id,
      typ: 'JWT',
      requiredClaims: ['nbf', 'iat', 'exp', 'uris'],
    })
    if (header.kid !== key.id) return 'wrong key id'
    if (!/^[0-9a-f]{16,}$/.test(String(header.nonce))) return 'no nonce'
    if ((payload.exp ?? 0) - (payload.iat ?? 0) > 120) return 'lives too long'
    if (!call.headers['correlation-context']) return 'no correlation context'
    const expected = `${call.method} ${host}${call.path}`
    return JSON.stringify(payload.uris) === JSON.stringify([expected]) ? undefined : `not for ${expected}`
  } catch (error) {
    return String(error)
  }
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Play =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }

export const text =
  (status: number, body: string): Play =>
  (response) => {
    response.writeHead(status, { 'content-type': 'text/plain' }).end(body)
  }

/** Takes the request, keeps the caller waiting. */
export const silence: Play = () => {}

export const hangUp: Play = (response) => {
  response.socket?.destroy()
}

/** A byte now and then, for ever. */
export const drip: Play = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => response.write(' '), 20)
  response.on('close', () => clearInterval(timer))
}

export const flood: Play = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const more = () => {
    while (!response.destroyed && response.write(Buffer.alloc(16_384, 0x20)));
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

/** Begins a good answer and breaks off in the middle. */
export const breakOff: Play = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
  response.write('{"success":true,')
  setTimeout(() => response.socket?.destroy(), 20)
}
