import { readJson } from '@assay/protocol/json-object'

/** One answer, read whole. */
export type Answer = { status: number; headers: Headers; body: Uint8Array<ArrayBuffer> }

/** What the endpoint said to each way of asking. */
export type Seen = {
  url: string
  method: string
  first: Answer
  head: Answer | undefined
  preflight: Answer | undefined
  /** A payment that is no payment. */
  nonsense: Answer | undefined
  /** The same path written a little differently, without paying. */
  variants: { what: string; answer: Answer }[]
  directory: unknown
  documents: { path: string; found: boolean }[]
  openapi: unknown
  manifest: unknown
}

const directoryPath = '/.well-known/http-message-signatures-directory'
const bodyBytesMax = 1_000_000

export async function gatherEndpoint(url: string, requested: string | undefined): Promise<Seen> {
  const { method, first } = await firstAnswer(url, requested)
  const { origin } = new URL(url)
  const quietly = (target: string, init: RequestInit) => ask(target, init).catch(() => undefined)
  const [head, preflight, nonsense, directory, ...rest] = await Promise.all([
    quietly(url, { method: 'HEAD' }),
    quietly(url, { method: 'OPTIONS', headers: preflightHeaders(method) }),
    quietly(url, withBody(method, { headers: { 'payment-signature': 'this-is-no-payment' } })),
    quietly(`${origin}${directoryPath}`, {}),
    ...documentPaths.map((path) => quietly(`${origin}${path}`, {})),
  ])
  return {
    url,
    method,
    first,
    head,
    preflight,
    nonsense,
    variants: await askVariants(url, method),
    directory: documentIn(directory),
    documents: documentPaths.map((path, index) => ({ path, found: rest[index]?.status === 200 })),
    openapi: documentIn(rest[0]),
    manifest: documentIn(rest[1]),
  }
}

const documentPaths = ['/openapi.json', '/.well-known/x402']

async function firstAnswer(url: string, given: string | undefined): Promise<{ method: string; first: Answer }> {
  const method = (given ?? 'GET').toUpperCase()
  const first = await ask(url, withBody(method, {}))
  if (given === undefined && first.status === 405)
    return { method: 'POST', first: await ask(url, withBody('POST', {})) }
  return { method, first }
}

function withBody(method: string, { headers = {} }: { headers?: Record<string, string> }): RequestInit {
  if (method === 'GET' || method === 'HEAD') return { method, headers }
  return { method, headers: { 'content-type': 'application/json', ...headers }, body: '{}' }
}

const preflightHeaders = (method: string) => ({
  origin: 'https://buyer.example',
  'access-control-request-method': method,
  'access-control-request-headers': 'payment-signature',
})

/** Ways around a paywall that has been matched by text: another spelling of the same path. */
async function askVariants(url: string, method: string): Promise<Seen['variants']> {
  const spelled = (change: (target: URL) => void) => {
    const target = new URL(url)
    change(target)
    return target.href
  }
  const urls: [string, string][] = [
    ['a trailing slash', spelled((target) => (target.pathname += '/'))],
    ['a doubled slash', spelled((target) => (target.pathname = `/${target.pathname}`))],
    ['upper case', spelled((target) => (target.pathname = target.pathname.toUpperCase()))],
  ]
  const answers = await Promise.all(
    urls.map(async ([what, target]) => ({
      what,
      answer: await ask(target, withBody(method, {})).catch(() => undefined),
    })),
  )
  return answers.flatMap(({ what, answer }) => (answer === undefined ? [] : [{ what, answer }]))
}

async function ask(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(10_000) })
  return { status: response.status, headers: response.headers, body: await readStart(response) }
}

/** What is longer is cut: the doctor is called to strangers, and one of them may send without end. */
async function readStart(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const body = new Uint8Array(bodyBytesMax)
  let length = 0
  for await (const chunk of response.body ?? []) {
    const fitting = (chunk as Uint8Array).subarray(0, bodyBytesMax - length)
    body.set(fitting, length)
    length += fitting.byteLength
    // Leaving the loop ends the connection.
    if (length === bodyBytesMax) break
  }
  return body.slice(0, length)
}

const documentIn = (answer: Answer | undefined): unknown => (answer?.status === 200 ? readJson(answer.body) : undefined)
