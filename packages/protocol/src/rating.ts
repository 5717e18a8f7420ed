import { tryCanonicalJson } from './canonical-json.ts'
import { readJsonObject } from './json-object.ts'
import { isSignedJws, readJws } from './jws.ts'
import type { KeySet } from './keys/key-directory.ts'
import { coversTime } from './signatures/verify-response.ts'

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

const jwsCharsMax = 16_384

const invalid = (reason: string): RatingVerification => ({ status: 'invalid', reason })

/** Checks that the node said exactly this, for this DID, and that it is not too old. */
export async function verifyRating(
  rating: CreditRating,
  options: { keys: KeySet; nowMs: number; subject?: string },
): Promise<RatingVerification> {
  const { jws: text, ...shown } = rating
  const jws = readJws(text, jwsCharsMax)
  const claims = readJsonObject(jws?.payload)
  if (jws === undefined || claims === undefined) return invalid('the rating cannot be read')
  const [did, keyId = ''] = jws.kid.split('#')
  if (did !== claims.issuer) return invalid('the key is not one of the issuer')
  const key = options.keys.get(keyId)
  const computedAtMs = Date.parse(String(claims.computed_at))
  if (key === undefined || Number.isNaN(computedAtMs) || !coversTime(key, Math.floor(computedAtMs / 1000), 60))
    return invalid('the key was not valid at that time')
  if (!(await isSignedJws(jws, key.x))) return invalid('the signature does not fit')
  if (tryCanonicalJson(claims) !== tryCanonicalJson(shown)) return invalid('what is shown is not what was signed')
  if (options.subject !== undefined && claims.subject !== options.subject) return invalid('it is about another DID')
  if (!(Date.parse(String(claims.valid_until)) > options.nowMs)) return invalid('it is too old')
  return { status: 'verified', keyId }
}
