import { contentDigest } from '@assay/protocol/signatures/signature-base'
import { exampleUrl } from './documents/index.ts'
import { sha256 } from './kernel/bytes.ts'
import type { RouteDeclaration } from './selling/index.ts'

export type SelfTest = {
  origin: string
  sold: readonly RouteDeclaration[]
  send(request: Request): Response | Promise<Response>
}

const fix = 'keep this route away from the middleware that does it'

/** Asks for the price of each sold route and compares what arrives with what was signed. */
export async function testSelf({ origin, sold, send }: SelfTest): Promise<string[]> {
  const site = { baseUrl: origin, serviceName: '', version: '', summary: '', description: '' }
  const problems: string[] = []
  for (const route of sold) {
    const request = new Request(exampleUrl(site, route), {
      method: route.method,
      // What a browser sends, so that compression and caching show themselves.
      headers: { 'accept-encoding': 'gzip, br', 'if-none-match': '*' },
    })
    const response = await send(request)
    const say = (what: string) => problems.push(`${route.id}: ${what}; ${fix}`)
    if (response.status !== 402) {
      say(`an unpaid request is answered ${response.status} instead of 402`)
      continue
    }
    const body = new Uint8Array(await response.arrayBuffer())
    if (response.headers.get('content-digest') !== contentDigest(sha256(body)))
      say('the bytes of the answer were changed')
    if (response.headers.get('content-encoding') !== null) say('the answer was compressed')
    if (response.headers.get('etag') !== null) say('the answer got an ETag, and a 304 would take its place')
    for (const name of ['payment-required', 'signature', 'signature-input'])
      if (response.headers.get(name) === null) say(`the header ${name} was removed`)
  }
  return problems
}
