import { fromBase64url } from '@assay/protocol/base64'
import { utf8 } from '@assay/protocol/bytes'
import { tryCanonicalJson } from '@assay/protocol/canonical-json'
import { isRecord } from '@assay/protocol/json-object'
import { verifyEd25519 } from '../ed25519.ts'
import type { KeySet } from '../trusted-keys.ts'
import { coversTime } from '../verify-response.ts'

/** What a node has seen of how a wallet pays. `score` is the lower end of the interval. */
export type CreditRating = {
  subject: string
  method: string
  issuer: string
  score: number
  interval: { low: number; high: number; level: number }
  components: { id: string; value: number; evidence: Record<string, number | string> }[]
  evidence: Record<string, number | string>
  computed_at: string
  valid_until: string
  jws: string
}

export type RatingVerification = { status: 'verified'; keyId: string } | { status: 'invalid'; reason: string }

const jwsPattern = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{86})$/
const jwsCharsMax = 16_384

const invalid = (reason: string): RatingVerification => ({ status: 'invalid', reason })

/** Checks that the node said exactly this, for this DID, and that it is not too old. */
export async function verifyRating(
  rating: CreditRating,
  options: { keys: KeySet; nowMs: number; subject?: string },
): Promise<RatingVerification> {
  const { jws, ...shown } = rating
  const [, head, body, signature] = jws.length <= jwsCharsMax ? (jwsPattern.exec(jws) ?? []) : []
  const [header, claims, bytes] = [readJson(head), readJson(body), fromBase64url(signature ?? '')]
  if (header === undefined || claims === undefined || bytes === undefined) return invalid('the rating cannot be read')
  if (header.alg !== 'EdDSA' || header.crit !== undefined || typeof header.kid !== 'string')
    return invalid('the rating is not an EdDSA JWS with a key id')
  const [did, keyId = ''] = header.kid.split('#')
  if (did !== claims.issuer) return invalid('the key is not one of the issuer')
  const key = options.keys.get(keyId)
  const computedAtMs = Date.parse(String(claims.computed_at))
  if (key === undefined || Number.isNaN(computedAtMs) || !coversTime(key, Math.floor(computedAtMs / 1000), 60))
    return invalid('the key was not valid at that time')
  if (!(await verifyEd25519(key.x, utf8(`${head}.${body}`), bytes))) return invalid('the signature does not fit')
  if (tryCanonicalJson(claims) !== tryCanonicalJson(shown)) return invalid('what is shown is not what was signed')
  if (options.subject !== undefined && claims.subject !== options.subject) return invalid('it is about another DID')
  if (!(Date.parse(String(claims.valid_until)) > options.nowMs)) return invalid('it is too old')
  return { status: 'verified', keyId }
}

function readJson(part: string | undefined): Record<string, unknown> | undefined {
  const bytes = fromBase64url(part ?? '')
  if (bytes === undefined) return undefined
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
