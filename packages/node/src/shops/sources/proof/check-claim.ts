import type { Network } from '@assay/till/chain'
import type { ProofEvidence, ProofFinding } from './gather-proof.ts'
import { type ProofTerms, payTo } from './instructions.ts'
import type { PublishedClaim } from './parse-proof.ts'

export type ProofMethod = 'dns' | 'file' | 'meta'

export type ProofVerdict =
  | {
      status: 'proven'
      method: ProofMethod
      all: readonly ProofMethod[]
      evidence: ProofRecord
      signature: `0x${string}` | undefined
    }
  | { status: 'missing'; notes: Record<ProofMethod, string> }
  /** Nothing valid was seen, and at least one way could not be checked. */
  | { status: 'could_not_check'; notes: Record<ProofMethod, string> }

export type ProofRecord = {
  method: ProofMethod
  url: string
  sha256: string | undefined
  checked_at: string
  resolvers?: readonly string[]
  dnssec?: boolean
}

const strongestFirst: readonly ProofMethod[] = ['dns', 'file', 'meta']

/** Higher is stronger; 0 is no proof. */
export const strengthOf = (method: ProofMethod | null | undefined) =>
  method ? strongestFirst.length - strongestFirst.indexOf(method) : 0

/** How a claim is proven now: by what was seen, or as it was before while that way could not be checked. */
export function methodNow(
  before: ProofMethod | null,
  verdict: ProofVerdict,
  evidence: ProofEvidence,
): ProofMethod | undefined {
  const seen = verdict.status === 'proven' ? verdict.method : undefined
  const unchecked = before !== null && evidence[before].status === 'unreadable'
  return unchecked && strengthOf(before) > strengthOf(seen) ? before : seen
}

/** Pure: whether what was found proves this claim, and if not, what is missing in one sentence a way. */
export function checkClaim(base: Network, terms: ProofTerms, evidence: ProofEvidence): ProofVerdict {
  const seen = strongestFirst.map((method) => ({ method, ...matchProof(base, terms, evidence[method], method) }))
  const proven = seen.filter((way) => way.claim !== undefined)
  const [best] = proven
  if (best) {
    const finding = evidence[best.method]
    return {
      status: 'proven',
      method: best.method,
      all: proven.map(({ method }) => method),
      signature: proven.map(({ claim }) => claim?.signature).find((signature) => signature !== undefined),
      evidence: {
        method: best.method,
        url: finding.url,
        sha256: finding.status === 'read' ? finding.sha256 : undefined,
        checked_at: new Date(evidence.checkedAtMs).toISOString(),
        ...(best.method === 'dns' ? { resolvers: evidence.dns.resolvers, dnssec: evidence.dns.authenticated } : {}),
      },
    }
  }
  const notes = Object.fromEntries(seen.map(({ method, note }) => [method, note])) as Record<ProofMethod, string>
  const blind = strongestFirst.some((method) => evidence[method].status === 'unreadable')
  return { status: blind ? 'could_not_check' : 'missing', notes }
}

function matchProof(
  base: Network,
  terms: ProofTerms,
  finding: ProofFinding,
  method: ProofMethod,
): { claim: PublishedClaim | undefined; note: string } {
  if (finding.status !== 'read') return { claim: undefined, note: finding.note }
  const own = finding.claims.filter((claim) => claim.account === terms.claimId)
  const [first] = own
  if (!first)
    return { claim: undefined, note: 'A value is published, but it belongs to another claim; add yours beside it.' }
  const right = own.find((claim) => claim.token === terms.token)
  if (!right)
    return {
      claim: undefined,
      note: 'The published token is not the current one; values expire with the next day (UTC). Publish the one shown here.',
    }
  // Older tags do not name the wallet: their token is bound to it here.
  if (
    !(method === 'meta' && right.pay === undefined) &&
    right.pay?.toLowerCase() !== payTo(base, terms.wallet).toLowerCase()
  )
    return {
      claim: undefined,
      note: `The published payout address is not ${payTo(base, terms.wallet)}; publish the value shown here.`,
    }
  return { claim: right, note: '' }
}
