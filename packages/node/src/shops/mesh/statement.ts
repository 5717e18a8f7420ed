import { canonicalJson, type Json, jsonDepth } from '@assay/protocol/canonical-json'
import { verifyJws } from '@assay/till/signing'
import { z } from 'zod'
import { clockSkewMs, offersMax, statementCharsMax, statementSecondsMax, statementType } from './limits.ts'
import { parseNodeAddress } from './node-address.ts'

const micro = z.string().regex(/^(?:0|[1-9][0-9]{0,17})$/)
const path = z
  .string()
  .max(300)
  .regex(/^\/[\x21-\x7e]*$/)
const network = z
  .string()
  .max(64)
  .regex(/^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/)

export const capabilityPattern = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*){0,5}$/

const offer = z.object({
  capability: z.string().max(64).regex(capabilityPattern),
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
  /** `{name}` stands for a parameter. */
  path,
  /** The lowest price; "0" is free. */
  price_micro: micro,
  price_micro_max: micro.optional(),
  networks: z.array(network).max(8).optional(),
  /** Path and query that can be asked as they are. */
  example: path.optional(),
  site: z.literal('base').optional(),
})

const vkey = z
  .string()
  .max(400)
  .regex(/^[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+=*$/)

/** The transparency log of a node: name, where its files are, the keys that sign it. */
const announcedLog = z.object({
  origin: z.string().min(1).max(255),
  url: z.string().max(300),
  keys: z.array(vkey).min(1).max(8),
})

/** Where the node cosigns the logs of its peers (C2SP tlog-witness), and with which key. */
const announcedWitness = z.object({ url: z.string().max(300), key: vkey })

const statement = z.object({
  protocol: z
    .string()
    .max(32)
    .regex(/^1\.\d{1,4}\.\d{1,4}$/),
  did: z.string().max(300),
  address: z.string().max(255),
  base_url: z.string().max(255),
  name: z.string().max(64),
  sequence: z.int().min(1),
  issued_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  networks: z.array(z.object({ network, asset: z.string().max(64) })).max(8),
  offers: z.array(offer).max(offersMax),
  // Later additions: a reader that cannot use one still takes the statement.
  log: announcedLog.optional().catch(undefined),
  witness: announcedWitness.optional().catch(undefined),
})

export type Offer = z.infer<typeof offer>
export type Statement = z.infer<typeof statement>

/** A key of a node as its directory names it, with the seconds between which its signatures count. */
export type PeerKey = { kid: string; x: string; nbf: number; exp?: number | undefined }

export type StatementVerdict = { ok: true; statement: Statement; keyId: string } | { ok: false; reason: StatementFault }

export type StatementFault =
  | 'too_large'
  | 'signature'
  | 'not_canonical'
  | 'malformed'
  | 'other_node'
  | 'expired'
  | 'from_the_future'
  | 'key_not_valid_then'

export type StatementCheck = {
  /** The address it was read from, or was announced with. */
  address: string
  keys: readonly PeerKey[]
  nowMs: number
}

/** Believes a statement only under a key that the address itself publishes, for that address, while it lasts. */
export function verifyStatement(jws: string, check: StatementCheck): StatementVerdict {
  const fault = (reason: StatementFault): StatementVerdict => ({ ok: false, reason })
  if (jws.length > statementCharsMax) return fault('too_large')
  const address = parseNodeAddress(check.address)
  if (address === undefined) return fault('other_node')
  let key: PeerKey | undefined
  const parts = verifyJws(
    jws,
    (kid) => {
      key = check.keys.find((known) => kid === `${address.did}#${known.kid}`)
      return key?.x
    },
    statementCharsMax,
  )
  if (parts === undefined || key === undefined || parts.typ !== statementType) return fault('signature')
  const read = readStatement(parts.json)
  if (typeof read === 'string') return fault(read)
  const { did, address: stated, issued_at, expires_at } = read
  if (did !== address.did || stated !== address.origin) return fault('other_node')
  const issuedMs = Date.parse(issued_at)
  const expiresMs = Date.parse(expires_at)
  if (issuedMs > check.nowMs + clockSkewMs) return fault('from_the_future')
  if (expiresMs <= check.nowMs || expiresMs - issuedMs > statementSecondsMax * 1000) return fault('expired')
  const issued = issuedMs / 1000
  if (issued < key.nbf - clockSkewMs / 1000 || (key.exp !== undefined && issued > key.exp))
    return fault('key_not_valid_then')
  return { ok: true, statement: read, keyId: key.kid }
}

/** One value has one form: bytes that another parser might read otherwise are refused. */
export function readStatement(json: string): Statement | 'not_canonical' | 'malformed' {
  if (jsonDepth(json) > 6) return 'malformed'
  try {
    const value = JSON.parse(json) as Json
    if (canonicalJson(value) !== json) return 'not_canonical'
    const parsed = statement.safeParse(value)
    if (!parsed.success || !isOrigin(parsed.data.base_url)) return 'malformed'
    return parsed.data
  } catch {
    return 'malformed'
  }
}

const isOrigin = (text: string) => parseNodeAddress(text) !== undefined

/** The content of a statement that was verified when it was stored. */
export function openStatement(jws: string): Statement | undefined {
  const [, payload = ''] = jws.split('.')
  const read = readStatement(Buffer.from(payload, 'base64url').toString('utf8'))
  return typeof read === 'string' ? undefined : read
}

/** The `kid` a statement claims, before anything is believed: it says which keys to look for. */
export function claimedKeyId(jws: string): string | undefined {
  if (jws.length > statementCharsMax) return undefined
  try {
    const header: unknown = JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString('utf8'))
    const kid = (header as { kid?: unknown } | null)?.kid
    return typeof kid === 'string' ? kid.split('#')[1] : undefined
  } catch {
    return undefined
  }
}

/** Absolute address of an offer's template or example. */
export function offerUrl({ address, base_url }: Pick<Statement, 'address' | 'base_url'>, offer: Offer): string {
  return `${offer.site === 'base' ? base_url : address}${offer.path}`
}

export function exampleUrlOf({ address, base_url }: Pick<Statement, 'address' | 'base_url'>, offer: Offer): string {
  return `${offer.site === 'base' ? base_url : address}${offer.example ?? offer.path}`
}
