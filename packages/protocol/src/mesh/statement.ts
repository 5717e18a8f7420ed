import { fromBase64url } from '../base64.ts'
import { readJsonObject } from '../json-object.ts'
import { isSignedJws, readJws } from '../jws.ts'
import type { KeySet } from '../keys/key-directory.ts'
import { parseNodeAddress } from './node-address.ts'
import { type MeshOffer, type MeshStatement, readMeshStatement } from './read-statement.ts'

export const statementType = 'x402-mesh+jws'
export const statementCharsMax = 24_576
export const statementSecondsMax = 3_600
export const clockSkewMs = 60_000

/** A key of a node as its directory names it, with the seconds between which its signatures count. */
export type PeerKey = { kid: string; x: string; nbf: number; exp?: number | undefined }

export const keySetOf = (keys: readonly PeerKey[]): KeySet =>
  new Map(keys.map(({ kid, x, nbf, exp }) => [kid, { keyId: kid, x, notBefore: nbf, notAfter: exp }]))

export type StatementVerdict =
  | { ok: true; statement: MeshStatement; keyId: string }
  | { ok: false; reason: StatementFault }

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

const textOf = (payload: Uint8Array | undefined) => new TextDecoder().decode(payload)

type Signed = { ok: true; statement: MeshStatement; key: PeerKey } | { ok: false; reason: StatementFault }

/** Believes a statement only under a key that the address itself publishes, for that address, while it lasts. */
export async function verifyMeshStatement(text: string, check: StatementCheck): Promise<StatementVerdict> {
  const signed = await readSignedStatement(text, check)
  return signed.ok ? checkStatementTimes(signed.statement, signed.key, check.nowMs) : signed
}

/** The part of it that time does not change. */
export async function readSignedStatement(text: string, check: Omit<StatementCheck, 'nowMs'>): Promise<Signed> {
  const fault = (reason: StatementFault): Signed => ({ ok: false, reason })
  if (text.length > statementCharsMax) return fault('too_large')
  const address = parseNodeAddress(check.address)
  if (address === undefined) return fault('other_node')
  const jws = readJws(text, statementCharsMax)
  const key = check.keys.find(({ kid }) => jws?.kid === `${address.did}#${kid}`)
  if (!jws || !key || jws.typ !== statementType || !(await isSignedJws(jws, key.x))) return fault('signature')
  const read = readMeshStatement(textOf(jws.payload))
  if (typeof read === 'string') return fault(read)
  if (read.did !== address.did || read.address !== address.origin) return fault('other_node')
  if (address.origin.startsWith('https:') && !read.base_url.startsWith('https:')) return fault('malformed')
  return { ok: true, statement: read, key }
}

export function checkStatementTimes(statement: MeshStatement, key: PeerKey, nowMs: number): StatementVerdict {
  const fault = (reason: StatementFault): StatementVerdict => ({ ok: false, reason })
  const issuedMs = Date.parse(statement.issued_at)
  const expiresMs = Date.parse(statement.expires_at)
  if (issuedMs > nowMs + clockSkewMs) return fault('from_the_future')
  // A sequence that is a time can be followed: one far ahead would silence the node, or the next holder of its key.
  if (statement.sequence > nowMs + clockSkewMs) return fault('from_the_future')
  if (expiresMs <= nowMs || expiresMs - issuedMs > statementSecondsMax * 1000) return fault('expired')
  const issued = issuedMs / 1000
  if (issued < key.nbf - clockSkewMs / 1000 || (key.exp !== undefined && issued > key.exp))
    return fault('key_not_valid_then')
  return { ok: true, statement, keyId: key.kid }
}

/** The content of a statement that was verified when it was stored. */
export function openStatement(jws: string): MeshStatement | undefined {
  const read = readMeshStatement(textOf(fromBase64url(jws.split('.')[1] ?? '')))
  return typeof read === 'string' ? undefined : read
}

/** The `kid` a statement claims, before anything is believed: it says which keys to look for. */
export function claimedKeyId(jws: string): string | undefined {
  if (jws.length > statementCharsMax) return undefined
  const kid = readJsonObject(fromBase64url(jws.split('.')[0] ?? ''))?.['kid']
  return typeof kid === 'string' ? kid.split('#')[1] : undefined
}

type Sites = Pick<MeshStatement, 'address' | 'base_url'>

/** Where an offer is: at the interface of the node, or at its base address. */
export const siteOf = ({ address, base_url }: Sites, { site }: MeshOffer): string =>
  site === 'base' ? base_url : address

/** Absolute address of an offer's template or example. */
export const offerUrl = (sites: Sites, offer: MeshOffer): string => `${siteOf(sites, offer)}${offer.path}`

export const exampleUrlOf = (sites: Sites, offer: MeshOffer): string =>
  `${siteOf(sites, offer)}${offer.example ?? offer.path}`
