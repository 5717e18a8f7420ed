/**
 * What a verifier demands beyond sound signatures, as `witnesses=2of3,anchor,key-valid,max-age=30d`.
 * Each term may be given once, in any order. A term that is absent demands nothing.
 */
export type VerifyPolicy = {
  /** The entry is in the log, under a tree head that the node signed. Follows from `witnesses` and `anchor`. */
  logged: boolean
  /** At least `atLeast` of the `of` witnesses that the verifier named have signed the tree head. */
  witnesses?: { atLeast: number; of: number }
  /** The tree head is one that the verifier has read on chain. */
  anchor: boolean
  /** The keys were valid when they signed, by a directory from another source than the file. */
  keyValid: boolean
  /** The attestation is not older than this. */
  maxAgeSeconds?: number
}

const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 } as const
const termsMax = 5

/** Undefined for anything that is not a policy: an unknown term must not be skipped. */
export function parseVerifyPolicy(text: string): VerifyPolicy | undefined {
  const terms = text.length > 100 ? [] : text.split(',')
  if (terms.length === 0 || terms.length > termsMax) return undefined
  const policy: VerifyPolicy = { logged: false, anchor: false, keyValid: false }
  const seen = new Set<string>()
  for (const term of terms) {
    const [name = ''] = term.split('=')
    if (seen.has(name) || !applyTerm(policy, term)) return undefined
    seen.add(name)
  }
  return policy
}

function applyTerm(policy: VerifyPolicy, term: string): boolean {
  if (term === 'logged') policy.logged = true
  else if (term === 'anchor') policy.anchor = policy.logged = true
  else if (term === 'key-valid') policy.keyValid = true
  else return applyWitnesses(policy, term) || applyAge(policy, term)
  return true
}

function applyWitnesses(policy: VerifyPolicy, term: string): boolean {
  const [, atLeast, of] = /^witnesses=([1-9][0-9]?)of([1-9][0-9]?)$/.exec(term) ?? []
  if (atLeast === undefined || Number(atLeast) > Number(of)) return false
  policy.witnesses = { atLeast: Number(atLeast), of: Number(of) }
  policy.logged = true
  return true
}

function applyAge(policy: VerifyPolicy, term: string): boolean {
  const [, count, unit] = /^max-age=([1-9][0-9]{0,5})([smhd])$/.exec(term) ?? []
  if (count === undefined) return false
  policy.maxAgeSeconds = Number(count) * unitSeconds[unit as keyof typeof unitSeconds]
  return true
}
