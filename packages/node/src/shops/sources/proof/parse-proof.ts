import { jsonDepth } from '@assay/protocol/canonical-json'

/** A claim as somebody published it, whichever way. */
export type PublishedClaim = {
  account: string
  token: string
  pay: string | undefined
  signature: `0x${string}` | undefined
}

const token = /^[A-Za-z0-9_-]{43}$/
const account = /^[a-z]{2,8}_[0-9a-z]{26}$/
const payee = /^eip155:[1-9]\d{0,14}:0x[0-9a-fA-F]{40}$/

/** `v=cm1; acct=…; tok=…; pay=…`, in any order; anything else is undefined. */
export function parseTxt(record: string): PublishedClaim | undefined {
  if (record.length > 1_000) return undefined
  const fields = new Map<string, string>()
  for (const part of record.split(';')) {
    const equals = part.indexOf('=')
    if (equals < 0) {
      if (part.trim() !== '') return undefined
      continue
    }
    const key = part.slice(0, equals).trim().toLowerCase()
    if (fields.has(key)) return undefined
    fields.set(key, part.slice(equals + 1).trim())
  }
  if (fields.get('v') !== 'cm1') return undefined
  return published(fields.get('acct'), fields.get('tok'), fields.get('pay'), undefined)
}

/** `cm1 account token payee`; tags of claims that were proven before the payee was part of it have none. */
export function parseMeta(content: string): PublishedClaim | undefined {
  const [version, acct, tok, pay, ...rest] = content.trim().split(/\s+/)
  return version === 'cm1' && rest.length === 0 ? published(acct, tok, pay, undefined) : undefined
}

export type FileClaims =
  | { status: 'ok'; domain: string; claims: readonly PublishedClaim[] }
  | { status: 'malformed'; detail: string }

export function parseFile(text: string): FileClaims {
  if (text.length > 65_536 || jsonDepth(text) > 8)
    return { status: 'malformed', detail: 'the file is too large or too deep' }
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return { status: 'malformed', detail: 'the file is not JSON' }
  }
  const { version, domain, claims } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >
  if (version !== 'cm1') return { status: 'malformed', detail: 'version is not "cm1"' }
  if (typeof domain !== 'string' || !Array.isArray(claims))
    return { status: 'malformed', detail: 'domain or claims are missing' }
  const read = claims.slice(0, 50).flatMap((claim: unknown) => {
    const fields = (typeof claim === 'object' && claim !== null ? claim : {}) as Record<string, unknown>
    return published(fields['account'], fields['token'], fields['pay'], fields['signature']) ?? []
  })
  return { status: 'ok', domain: domain.toLowerCase(), claims: read }
}

function published(acct: unknown, tok: unknown, pay: unknown, signature: unknown): PublishedClaim | undefined {
  if (typeof acct !== 'string' || !account.test(acct) || typeof tok !== 'string' || !token.test(tok)) return undefined
  if (pay !== undefined && (typeof pay !== 'string' || !payee.test(pay))) return undefined
  const signed = typeof signature === 'string' && /^0x(?:[0-9a-fA-F]{2}){1,4096}$/.test(signature)
  return {
    account: acct,
    token: tok,
    pay: pay as string | undefined,
    signature: signed ? (signature as `0x${string}`) : undefined,
  }
}
