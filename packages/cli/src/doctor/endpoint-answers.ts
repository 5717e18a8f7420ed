import { isLoopbackUrl } from '@assay/protocol/loopback'
import { verifyResponse } from '@assay/sdk'
import { type Check, fail, ok, warn } from './check.ts'
import type { Answer, Seen } from './gather-endpoint.ts'

/** Everything around the offer: signature, caching, browsers, and ways to get in without paying. */
export async function checkAnswers(seen: Seen): Promise<Check[]> {
  const checks = [
    transport(seen.url),
    await signature(seen),
    caching(seen.first),
    cors(seen),
    ...unpaid(seen),
    clock(seen.first),
  ]
  if (seen.documents.some(({ found }) => found)) return [...checks, ok('documents', foundText(seen))]
  return [
    ...checks,
    warn('documents', 'neither /openapi.json nor /.well-known/x402', 'publish one, so that tools find all you sell'),
  ]
}

const foundText = ({ documents }: Seen) =>
  documents
    .filter(({ found }) => found)
    .map(({ path }) => path)
    .join(', ')

function transport(url: string): Check {
  if (new URL(url).protocol === 'https:') return ok('transport', 'https')
  if (isLoopbackUrl(url)) return ok('transport', 'http on this machine')
  return fail('transport', 'http', 'serve https: over http anyone between can change the payee')
}

async function signature({ url, method, first, directory }: Seen): Promise<Check> {
  if (!first.headers.has('signature-input'))
    return warn(
      'signature',
      'the 402 is not signed',
      'sign answers with RFC 9421, so that buyers can tell them from a forgery',
    )
  const verified = await verifyResponse({ method, url }, first, { directory, nowMs: Date.now() })
  if (verified.status === 'verified') return ok('signature', `valid, key ${verified.keyId}`)
  const why = verified.status === 'invalid' ? verified.reason : `${verified.status}: the key is not in the directory`
  return fail('signature', why, 'see /.well-known/http-message-signatures-directory: are the keys those that sign?')
}

function caching({ headers }: Answer): Check {
  const value = headers.get('cache-control') ?? ''
  return /no-store|private|no-cache/.test(value)
    ? ok('cache', value)
    : warn(
        'cache',
        value === '' ? 'no Cache-Control' : value,
        'send Cache-Control: no-store with a 402, or a cache may serve an old offer',
      )
}

function cors({ first, preflight }: Seen): Check {
  const name = 'browsers'
  if (!first.headers.has('access-control-allow-origin'))
    return warn(name, 'no CORS headers', 'send Access-Control-Allow-Origin, or pages cannot buy here')
  const exposed = (first.headers.get('access-control-expose-headers') ?? '').toLowerCase()
  const hidden = ['payment-required', 'payment-response'].filter(
    (header) => exposed !== '*' && !exposed.includes(header),
  )
  if (hidden.length > 0)
    return warn(
      name,
      `${hidden.join(', ')} hidden from pages`,
      `add to Access-Control-Expose-Headers: ${hidden.join(', ')}`,
    )
  const allowed = (preflight?.headers.get('access-control-allow-headers') ?? '').toLowerCase()
  return allowed.includes('payment-signature') || allowed === '*'
    ? ok(name, 'pages can read the offer and pay')
    : warn(name, 'a preflight does not allow PAYMENT-SIGNATURE', 'add it to Access-Control-Allow-Headers')
}

const isServed = (answer: Answer | undefined) => answer !== undefined && answer.status >= 200 && answer.status < 300

function unpaid(seen: Seen): Check[] {
  if (seen.first.status !== 402) return []
  const served = seen.variants.filter(({ answer }) => isServed(answer)).map(({ what }) => what)
  return [
    isServed(seen.head)
      ? fail(
          'HEAD',
          `answered with ${seen.head?.status}`,
          'HEAD must go through the same gate as GET: it may run the paid work for nothing',
        )
      : ok('HEAD', 'serves nothing'),
    served.length === 0
      ? ok('other paths', 'no other spelling of the path is served unpaid')
      : fail(
          'other paths',
          `served unpaid with ${served.join(', ')}`,
          'gate the route that was matched, not the text of the path',
        ),
    nonsense(seen.nonsense),
  ]
}

function nonsense(answer: Answer | undefined): Check {
  const name = 'bad payment'
  if (isServed(answer))
    return fail(
      name,
      'a header that is no payment is served',
      'parse PAYMENT-SIGNATURE strictly and verify before serving',
    )
  if (answer === undefined || answer.status >= 500)
    return warn(
      name,
      `a header that is no payment gives ${answer?.status ?? 'no answer'}`,
      'answer 400: a server error makes buyers retry',
    )
  return ok(name, `a header that is no payment gives ${answer.status}`)
}

function clock({ headers }: Answer): Check {
  const date = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(date)) return warn('clock', 'no Date header', 'send one; buyers compare clocks with it')
  const apart = Math.round(Math.abs(Date.now() - date) / 1000)
  return apart <= 30
    ? ok('clock', 'agrees with this machine')
    : warn('clock', `${apart} s apart from this machine`, 'set both clocks: authorizations carry times')
}
