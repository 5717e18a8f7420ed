import { readFile } from 'node:fs/promises'
import { usageError } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'

export type RequestOptions = { method?: string; data?: string; header?: readonly string[] }

/** The request as it will be sent; its bytes are fixed here, for the payment names them. */
export type RequestToSend = { url: string; method: string; headers: Record<string, string>; body: Uint8Array }

export async function buildRequest(url: string, options: RequestOptions, terminal: Terminal): Promise<RequestToSend> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw usageError(`not an http(s) URL: ${url}`, 'Quote it in the shell, for & and ? have a meaning there.')
  if (new URL(url).username !== '' || new URL(url).password !== '')
    throw usageError('the URL carries a name or password', 'Send it in a header: --header "Authorization: …".')
  const body = options.data === undefined ? new Uint8Array() : await readData(options.data, terminal)
  const method = (options.method ?? (body.byteLength > 0 ? 'POST' : 'GET')).toUpperCase()
  if (!/^[A-Z]{1,16}$/.test(method) || /^(CONNECT|TRACE|TRACK)$/.test(method))
    throw usageError(`not a method to buy with: ${options.method}`)
  if (body.byteLength > 0 && (method === 'GET' || method === 'HEAD'))
    throw usageError(`${method} cannot carry --data`, 'Leave --method away, or use --method POST.')
  const headers = Object.fromEntries((options.header ?? []).map(parseHeader))
  if (body.byteLength > 0 && headers['content-type'] === undefined)
    headers['content-type'] = isJson(body) ? 'application/json' : 'application/octet-stream'
  return { url: new URL(url).href, method, headers, body }
}

export function toInit(request: RequestToSend): RequestInit {
  const { method, headers, body } = request
  return { method, headers, ...(body.byteLength > 0 ? { body: new Uint8Array(body) } : {}) }
}

/** As curl has it: the text itself, `@file`, or `@-` for standard input. */
async function readData(data: string, terminal: Terminal): Promise<Uint8Array> {
  if (!data.startsWith('@')) return new TextEncoder().encode(data)
  if (data === '@-') return new Uint8Array(await terminal.readInput())
  return new Uint8Array(
    await readFile(data.slice(1)).catch(() => {
      throw usageError(`--data: cannot read ${data.slice(1)}`)
    }),
  )
}

// The protocol's own headers are written by the client; a caller's would only get in its way.
const reserved = new Set([
  'payment-signature',
  'x-payment',
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
])

function parseHeader(text: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\t]*)$/.exec(text) ?? []
  if (name === undefined || value === undefined) throw usageError(`not a header: ${text}`, 'Write "Name: value".')
  if (reserved.has(name.toLowerCase())) throw usageError(`the header ${name} is written by the client itself`)
  return [name.toLowerCase(), value]
}

function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return true
  } catch {
    return false
  }
}
