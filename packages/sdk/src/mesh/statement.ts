import { fromBase64url } from '@assay/protocol/base64'
import { utf8 } from '@assay/protocol/bytes'
import { tryCanonicalJson } from '@assay/protocol/canonical-json'
import { verifyEd25519 } from '@assay/protocol/ed25519'
import { isRecord } from '@assay/protocol/json-object'
import { readDirectory } from '@assay/protocol/keys/key-directory'
import { coversTime } from '@assay/protocol/signatures/verify-response'

export type MeshOffer = {
  capability: string
  method: string
  /** `{name}` stands for a parameter. */
  path: string
  priceMicro: bigint
  priceMicroMax: bigint
  networks: readonly string[]
  /** Path and query that can be asked as they are. */
  example: string
  origin: string
}

export type MeshStatement = {
  did: string
  address: string
  baseUrl: string
  name: string
  sequence: number
  expiresAt: string
  offers: readonly MeshOffer[]
}

export type StatementCheck = {
  /** The address whose keys are given. */
  address: string
  /** The key directory of that address. */
  directory: unknown
  nowMs: number
}

export type StatementResult = { status: 'verified'; statement: MeshStatement } | { status: 'invalid'; reason: string }

const statementCharsMax = 24_576
const lifeMsMax = 3_600_000
const skewSeconds = 60

/** did:web of a node: its host, with the colon before a port escaped. */
export const didOfAddress = (address: string) => `did:web:${new URL(address).host.replace(':', '%3A')}`

/** What a node says of itself, believed only under a key that its own address publishes. */
export async function verifyMeshStatement(jws: string, check: StatementCheck): Promise<StatementResult> {
  const invalid = (reason: string): StatementResult => ({ status: 'invalid', reason })
  if (jws.length > statementCharsMax) return invalid('too large')
  const [head = '', body = '', signatureText = '', ...more] = jws.split('.')
  const header = readJson(head)
  const bytes = fromBase64url(body)
  const signature = fromBase64url(signatureText)
  if (!isRecord(header?.value) || bytes === undefined || signature === undefined || more.length > 0)
    return invalid('not a compact JWS')
  const { alg, typ, kid, crit } = header.value
  if (alg !== 'EdDSA' || typ !== 'x402-mesh+jws' || crit !== undefined) return invalid('not a mesh statement')
  const did = didOfAddress(check.address)
  const key = readDirectory(check.directory).keys.find((known) => kid === `${did}#${known.keyId}`)
  if (key === undefined) return invalid('the address does not publish the key that signed it')
  if (!(await verifyEd25519(key.x, utf8(`${head}.${body}`), signature))) return invalid('the signature does not fit')
  const payload = readJson(body)
  if (payload === undefined || tryCanonicalJson(payload.value) !== payload.text) return invalid('not canonical JSON')
  const statement = readStatement(payload.value)
  if (statement === undefined) return invalid('malformed')
  if (statement.did !== did || statement.address !== check.address) return invalid('it is about another node')
  const { issued_at: issuedAt } = payload.value as Record<string, unknown>
  const issuedMs = Date.parse(String(issuedAt))
  const expiresMs = Date.parse(statement.expiresAt)
  if (!(issuedMs <= check.nowMs + skewSeconds * 1000)) return invalid('it comes from the future')
  if (!(expiresMs > check.nowMs) || expiresMs - issuedMs > lifeMsMax) return invalid('it has run out')
  if (!coversTime(key, issuedMs / 1000, skewSeconds)) return invalid('the key was not valid when it was signed')
  return { status: 'verified', statement }
}

function readJson(base64url: string): { text: string; value: unknown } | undefined {
  const bytes = fromBase64url(base64url)
  if (bytes === undefined) return undefined
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const microPattern = /^(?:0|[1-9][0-9]{0,17})$/

function readStatement(value: unknown): MeshStatement | undefined {
  if (!isRecord(value) || !Array.isArray(value.offers) || value.offers.length > 128) return undefined
  const { did, address, base_url: baseUrl, name, sequence, expires_at: expiresAt } = value
  if (typeof did !== 'string' || typeof address !== 'string' || typeof name !== 'string') return undefined
  if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl) || new URL(baseUrl).origin !== baseUrl) return undefined
  if (!Number.isSafeInteger(sequence) || typeof expiresAt !== 'string') return undefined
  const offers = value.offers.map((offer) => readOffer(offer, address, baseUrl))
  if (offers.some((offer) => offer === undefined)) return undefined
  return { did, address, baseUrl, name, sequence: sequence as number, expiresAt, offers: offers as MeshOffer[] }
}

function readOffer(value: unknown, address: string, baseUrl: string): MeshOffer | undefined {
  if (!isRecord(value)) return undefined
  const { capability, method, path, price_micro: price, price_micro_max: most = price, networks = [] } = value
  const { example = path, site } = value
  if (typeof capability !== 'string' || typeof method !== 'string') return undefined
  if (typeof path !== 'string' || !path.startsWith('/') || typeof example !== 'string' || !example.startsWith('/'))
    return undefined
  if (typeof price !== 'string' || !microPattern.test(price) || typeof most !== 'string' || !microPattern.test(most))
    return undefined
  if (!Array.isArray(networks) || !networks.every((network) => typeof network === 'string')) return undefined
  return {
    capability,
    method,
    path,
    priceMicro: BigInt(price),
    priceMicroMax: BigInt(most),
    networks,
    example,
    origin: site === 'base' ? baseUrl : address,
  }
}
