import { type RpcCall, type RpcEndpoint, RpcRefusal } from './rpc.ts'

const timeoutMs = 8_000
const answerBytesMax = 16 * 1024 * 1024

type RpcAnswer = { id: number; result?: unknown; error?: { code: number; message: string; data?: unknown } }

/** JSON-RPC over HTTP to a URL from the operator's configuration (never from a user). */
export function httpEndpoint(url: string): RpcEndpoint {
  let nextId = 1
  return {
    // Provider URLs carry API keys in their path: only the host may reach a log.
    name: new URL(url).host,
    async send(calls) {
      const body = calls.map((call) => ({ jsonrpc: '2.0', id: nextId++, method: call.method, params: call.params }))
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body.length === 1 ? body[0] : body),
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      })
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      const text = await response.text()
      if (text.length > answerBytesMax) throw new Error('answer too large')
      return inOrder(calls, body, JSON.parse(text))
    },
  }
}

function inOrder(calls: readonly RpcCall[], body: readonly { id: number }[], parsed: unknown): unknown[] {
  const answers = (Array.isArray(parsed) ? parsed : [parsed]) as RpcAnswer[]
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  return calls.map((call, index) => {
    const answer = byId.get(body[index]?.id as number)
    if (!answer) throw new Error(`no answer to ${call.method}`)
    if (answer.error)
      throw new RpcRefusal(answer.error.code, String(answer.error.message).slice(0, 300), answer.error.data)
    return answer.result
  })
}
