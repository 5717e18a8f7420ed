import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { answerMessage } from '../../packages/till/src/devnet/http-server.ts'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'
import { onLoopback } from '../../packages/till/src/kernel/on-loopback.fixture.ts'

type Upstream = { port: number; stop(): Promise<void> }

async function serve(answer: (request: IncomingMessage, body: string, response: ServerResponse) => unknown) {
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    await answer(request, Buffer.concat(chunks).toString('utf8'), response)
  })
  const { port, close } = await onLoopback(server)
  return { port, stop: close }
}

/** How a provider fails: breaks off, answers with a page, or quotes in its error what it was asked with. */
export const providerFaults = ['gone', 'page', 'text', 'quotes'] as const
export type ProviderFault = (typeof providerFaults)[number]

/** A chain behind a provider that wants a key: in the path, in the query, and as user and password. */
export type KeyedProvider = Upstream & {
  url: string
  fail(fault: ProviderFault | undefined): void
  refused(): number
}

export type ProviderKeys = { user: string; password: string; path: string; query: string }

export async function startKeyedProvider(devnet: Devnet, keys: ProviderKeys): Promise<KeyedProvider> {
  let fault: ProviderFault | undefined
  let refused = 0
  const target = `/v2/${keys.path}?key=${keys.query}`
  const authorization = `Basic ${Buffer.from(`${keys.user}:${keys.password}`).toString('base64')}`
  const upstream = await serve(async (request, body, response) => {
    const quoted = `http://${keys.user}:${keys.password}@127.0.0.1${request.url} (${request.headers.authorization})`
    if (fault === 'gone') return void request.socket.destroy()
    if (fault === 'page') return void response.writeHead(502).end(`<html>${quoted}</html>`)
    if (fault === 'text') return void response.end(quoted)
    if (request.url !== target || request.headers.authorization !== authorization) {
      refused += 1
      return void response.writeHead(401).end()
    }
    const message: unknown = JSON.parse(body)
    const answer = fault === 'quotes' ? quoting(message, quoted) : await answerMessage(devnet.request, message)
    response.end(JSON.stringify(answer))
  })
  return {
    ...upstream,
    url: `http://${keys.user}:${keys.password}@127.0.0.1:${upstream.port}${target}`,
    fail: (given) => {
      fault = given
    },
    refused: () => refused,
  }
}

function quoting(message: unknown, quoted: string): unknown {
  const one = (call: unknown) => ({
    jsonrpc: '2.0',
    id: (call as { id: number }).id,
    error: { code: -32_005, message: `limit exceeded at ${quoted}` },
  })
  return Array.isArray(message) ? message.map(one) : one(message)
}

export type FacilitatorFault = 'unauthorized' | 'broken' | 'gone'

/** A facilitator that never settles; `authorizations` are the keys it was called with. */
export type FailingFacilitator = Upstream & {
  baseUrl: string
  authorizations: string[]
  fail(fault: FacilitatorFault): void
}

export async function startFailingFacilitator(): Promise<FailingFacilitator> {
  let fault: FacilitatorFault = 'unauthorized'
  const authorizations: string[] = []
  const upstream = await serve((request, _body, response) => {
    authorizations.push(request.headers.authorization ?? '')
    if (request.method === 'GET') return response.end(JSON.stringify({ kinds: [], extensions: [], signers: {} }))
    if (fault === 'gone') return request.socket.destroy()
    const status = fault === 'unauthorized' ? 401 : 500
    return response.writeHead(status).end(JSON.stringify({ errorType: fault, errorMessage: 'failed' }))
  })
  return {
    ...upstream,
    baseUrl: `http://127.0.0.1:${upstream.port}`,
    authorizations,
    fail: (given) => {
      fault = given
    },
  }
}

/** Says of every wallet that it may trade, or fails. */
export async function startHook() {
  const asked: string[] = []
  let failing = false
  const upstream = await serve((request, _body, response) => {
    asked.push(request.url ?? '')
    response
      .writeHead(failing ? 500 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ eligible: true }))
  })
  return {
    ...upstream,
    asked,
    fail: (given: boolean) => {
      failing = given
    },
  }
}
