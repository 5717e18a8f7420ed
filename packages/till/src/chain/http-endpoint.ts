import { type RpcCall, type RpcEndpoint, RpcRefusal } from './rpc.ts'

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
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      const text = await response.text()
      if (text.length > answerBytesMax) throw new Error('answer too large')
      return inOrder(calls, body, JSON.parse(text), hide)
    },
  }
}

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

function inOrder(
  calls: readonly RpcCall[],
  body: readonly { id: number }[],
  parsed: unknown,
  hide: (text: string) => string,
): unknown[] {
  const answers = (Array.isArray(parsed) ? parsed : [parsed]) as RpcAnswer[]
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  return calls.map((call, index) => {
    const answer = byId.get(body[index]?.id as number)
    if (!answer) throw new Error(`no answer to ${call.method}`)
    if (answer.error)
      throw new RpcRefusal(answer.error.code, hide(String(answer.error.message)).slice(0, 300), answer.error.data)
    return answer.result
  })
}
