import { type RpcCall, type RpcEndpoint, RpcRateLimited, RpcRefusal } from './rpc.ts'

const timeoutMs = 8_000
const answerBytesMax = 16 * 1024 * 1024

type RpcAnswer = { id: number; result?: unknown; error?: { code: number; message: string; data?: unknown } }

/** JSON-RPC over HTTP to a URL from the operator's configuration (never from a user). */
export function httpEndpoint(given: string): RpcEndpoint {
  const { url, host, authorization, hide } = takeApart(given)
  let nextId = 1
  return {
    // Provider URLs carry API keys in their path: only the host may reach a log.
    name: host,
    async send(calls) {
      const body = calls.map((call) => ({ jsonrpc: '2.0', id: nextId++, method: call.method, params: call.params }))
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorization },
        body: JSON.stringify(body.length === 1 ? body[0] : body),
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      })
      if (response.status === 429) throw rateLimited(response)
      const text = await response.text()
      if (text.length > answerBytesMax) throw new Error('answer too large')
      if (!response.ok) throw refusalIn(response.status, text, hide) ?? new Error(`HTTP ${response.status}`)
      return inOrder(calls, body, JSON.parse(text), hide)
    },
  }
}

function rateLimited(response: Response): RpcRateLimited {
  response.body?.cancel().catch(() => {})
  const seconds = response.headers.get('retry-after') ?? ''
  return new RpcRateLimited(/^\d{1,5}$/.test(seconds) ? Number(seconds) * 1_000 : undefined)
}

const refusingStatuses = new Set([400, 413, 422])

/** Some providers answer 400 or 413 to what they do not take, most with a JSON-RPC error that says why. */
function refusalIn(status: number, text: string, hide: Hide): RpcRefusal | undefined {
  const error = errorIn(text)
  if (error) return toRefusal(error, hide)
  return refusingStatuses.has(status) ? new RpcRefusal(-32600, `HTTP ${status}`) : undefined
}

function errorIn(text: string): RpcAnswer['error'] {
  try {
    const parsed = JSON.parse(text) as RpcAnswer | RpcAnswer[]
    const error = (Array.isArray(parsed) ? parsed : [parsed]).find((answer) => answer?.error)?.error
    return typeof error?.message === 'string' ? error : undefined
  } catch {
    return undefined
  }
}

type Hide = (text: string) => string

const toRefusal = ({ code, message, data }: NonNullable<RpcAnswer['error']>, hide: Hide) =>
  new RpcRefusal(Number(code), hide(String(message)).slice(0, 300), data)

const keyLettersMin = 8

/**
 * User and password go into the header that is theirs: fetch refuses a URL with them, in an error that quotes them. And
 * a provider may quote in its own errors what it was asked with, so that nothing of a key may reach a log from there.
 */
function takeApart(given: string) {
  const url = new URL(given)
  const { host } = url
  const [user, password] = [decoded(url.username), decoded(url.password)]
  url.username = ''
  url.password = ''
  const basic = Buffer.from(`${user}:${password}`).toString('base64')
  const keys = [user, password, basic, ...url.pathname.split('/'), ...url.searchParams.values()]
    .filter((word) => word.length >= keyLettersMin)
    .sort((one, other) => other.length - one.length)
  return {
    url: url.href,
    host,
    authorization: user || password ? { authorization: `Basic ${basic}` } : {},
    hide: (text: string) => keys.reduce((clean, key) => clean.replaceAll(key, '[key]'), text),
  }
}

/** A password may have a per cent sign that begins no code. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function inOrder(calls: readonly RpcCall[], body: readonly { id: number }[], parsed: unknown, hide: Hide): unknown[] {
  const answers = (Array.isArray(parsed) ? parsed : [parsed]) as RpcAnswer[]
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  return calls.map((call, index) => {
    const answer = byId.get(body[index]?.id as number)
    if (!answer) throw new Error(`no answer to ${call.method}`)
    if (answer.error) throw toRefusal(answer.error, hide)
    return answer.result
  })
}
