import { headerLinesMax } from '@assay/till/selling'

/** What one pass over the raw headers tells: enough to find a shared answer without building a header map. */
export type HeaderSummary = {
  /** Key of the shared answer, or undefined when this request may not use one. */
  key: string | undefined
  requestId: string | undefined
  forwardedFor: string | undefined
}

type Kind = 'host' | 'accept' | 'request_id' | 'forwarded_for' | 'length' | 'personal' | 'other'

const kinds: Record<string, Kind> = {
  host: 'host',
  accept: 'accept',
  'x-request-id': 'request_id',
  'x-forwarded-for': 'forwarded_for',
  'content-length': 'length',
  // Each of these can make the answer differ from the one everybody gets.
  'payment-signature': 'personal',
  'x-payment': 'personal',
  'payment-authorization': 'personal',
  authorization: 'personal',
  'sign-in-with-x': 'personal',
  signature: 'personal',
  'signature-input': 'personal',
  'x-affiliate-id': 'personal',
  'transfer-encoding': 'personal',
  'content-encoding': 'personal',
  expect: 'personal',
}

const spellingsMax = 512

export type ReadHeaderSummary = (method: string, target: string, rawHeaders: readonly string[]) => HeaderSummary

/** A flood is made of one request over and over: comparing it with the one before costs less than reading it again. */
export function createSummaryReader(): ReadHeaderSummary {
  const read = createHeaderReader()
  let last: { method: string; target: string; rawHeaders: readonly string[]; seen: HeaderSummary } | undefined
  return (method, target, rawHeaders) => {
    if (last?.method === method && last.target === target && areEqual(last.rawHeaders, rawHeaders)) return last.seen
    const seen = read(method, target, rawHeaders)
    last = { method, target, rawHeaders, seen }
    return seen
  }
}

function areEqual(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false
  for (let i = 0; i < some.length; i += 1) if (some[i] !== others[i]) return false
  return true
}

/** Header names arrive in few spellings, so each is classified once; the memory of spellings is bounded. */
function createHeaderReader(): ReadHeaderSummary {
  const spellings = new Map<string, Kind>()
  const kindOf = (name: string): Kind => {
    const known = spellings.get(name)
    if (known !== undefined) return known
    const lower = name.toLowerCase()
    const kind = Object.hasOwn(kinds, lower) ? (kinds[lower] as Kind) : 'other'
    if (spellings.size < spellingsMax) spellings.set(name, kind)
    return kind
  }
  return (method, target, rawHeaders) => {
    let host = ''
    let accept = ''
    let requestId: string | undefined
    let forwardedFor: string | undefined
    // Refused on the slow path.
    let shareable = rawHeaders.length <= headerLinesMax * 2
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const kind = kindOf(rawHeaders[i] as string)
      if (kind === 'other') continue
      const value = rawHeaders[i + 1] as string
      if (kind === 'host') {
        // A second Host header is refused by the slow path; it must not find a shared answer here.
        if (host !== '') shareable = false
        host = value
      } else if (kind === 'accept') accept = accept === '' ? value : `${accept}, ${value}`
      else if (kind === 'request_id') requestId = value
      else if (kind === 'forwarded_for') forwardedFor = forwardedFor === undefined ? value : `${forwardedFor}, ${value}`
      else if (kind === 'personal' || value !== '0') shareable = false
    }
    // A space occurs in no method, target or host, so no two requests share a key by accident.
    const key =
      // A referral is counted with every request that names one, so none of them is answered from memory.
      shareable && target.length <= keyTargetMax && accept.length <= 256 && !target.includes('ref=')
        ? `${method} ${target} ${host} ${accept}`
        : undefined
    return { key, requestId, forwardedFor }
  }
}

const keyTargetMax = 1_024
