import type { Address } from '@assay/protocol/address'
import type { Tx } from '@assay/till/store/database'
import type { SourceDeps } from '../deps.ts'
import { checkClaim, type ProofMethod, type ProofVerdict, strengthOf } from '../proof/check-claim.ts'
import { freshTerms, termsExpireAt, walletsPublished } from '../proof/claim-token.ts'
import type { ProofEvidence } from '../proof/gather-proof.ts'
import type { ProofTerms } from '../proof/instructions.ts'
import type { ClaimRow, SourceRow } from './records.ts'

type Proven = ProofVerdict & { status: 'proven' }

/** A wallet whose values of today or yesterday were found and that has no claim yet. */
export type Newcomer = { terms: ProofTerms; verdict: Proven }

/** Strongest proof first. */
export function findNewcomers(
  deps: SourceDeps,
  domain: string,
  known: readonly ClaimRow[],
  evidence: ProofEvidence,
): Newcomer[] {
  const taken = new Set(known.map(({ wallet }) => wallet))
  return walletsPublished(evidence)
    .filter((wallet) => !taken.has(wallet))
    .flatMap((wallet) => {
      const { terms, verdict } = classifyWallet(deps, domain, wallet, evidence)
      return verdict.status === 'proven' ? [{ terms, verdict }] : []
    })
    .sort((one, other) => strengthOf(other.verdict.method) - strengthOf(one.verdict.method))
}

function classifyWallet(
  deps: SourceDeps,
  domain: string,
  wallet: Address,
  evidence: ProofEvidence,
): { terms: ProofTerms; verdict: ProofVerdict } {
  const [today, yesterday] = freshTerms(deps.claimSecret, domain, wallet, deps.clock.nowMs())
  const verdict = checkClaim(deps.base, today, evidence)
  if (verdict.status === 'proven') return { terms: today, verdict }
  const earlier = checkClaim(deps.base, yesterday, evidence)
  return earlier.status === 'proven' ? { terms: yesterday, verdict: earlier } : { terms: today, verdict }
}

/** Keeps a newcomer as a claim that waits. Values that lost on the same day get their former row back. */
export async function keepNewcomer(
  deps: SourceDeps,
  tx: Tx,
  { terms, verdict }: Newcomer,
  consented: boolean,
): Promise<ClaimRow> {
  const now = new Date(deps.clock.nowMs())
  // The version before kept claims without proof.
  await tx.query(`delete from source_claim where domain = $1 and wallet = $2 and state = 'open'`, [
    terms.domain,
    terms.wallet,
  ])
  const { rows } = await tx.query<ClaimRow>(
    `insert into source_claim (id, domain, wallet, kind, consented, account, token, token_expires_at, state, method, proof,
       proven_at, dns_proven_at, checked_at, next_check_at, report, created_at)
     values (coalesce((select id from source_claim where domain = $2 and account = $5 and token = $6 and state = 'lost' limit 1), $1),
       $2, $3, case when $4 then 'wallet_change' else 'claim' end, $4, $5, $6, $7, 'waiting', $8, $9,
       $10, case when $11 then $10::timestamptz end, $10, $12, '{"status": "proven", "notes": {}}', $10)
     on conflict (id) do update set state = 'waiting', consented = excluded.consented, kind = excluded.kind,
       method = excluded.method, proof = excluded.proof, proven_at = excluded.proven_at,
       dns_proven_at = excluded.dns_proven_at, checked_at = excluded.checked_at, next_check_at = excluded.next_check_at,
       report = excluded.report, failures = 0, takes_over_at = null
     returning *`,
    [
      deps.ids.next('clm'),
      terms.domain,
      terms.wallet,
      consented,
      terms.claimId,
      terms.token,
      termsExpireAt(now.getTime()),
      verdict.method,
      verdict.evidence,
      now,
      verdict.method === 'dns',
      new Date(now.getTime() + deps.settings.contestCheckMs),
    ],
  )
  const [row] = rows
  if (!row) throw new Error('a claim was written and is not there')
  return row
}

/** A claim as its wallet sees it before a proof was found: nothing of it is kept. */
export function openClaim(
  deps: SourceDeps,
  source: SourceRow,
  holder: ClaimRow | undefined,
  wallet: Address,
): ClaimRow {
  const nowMs = deps.clock.nowMs()
  const [{ claimId, token }] = freshTerms(deps.claimSecret, source.domain, wallet, nowMs)
  return {
    id: claimId,
    domain: source.domain,
    wallet,
    contact: null,
    kind: 'claim',
    consented: false,
    agreed_wallet: null,
    account: claimId,
    token,
    token_expires_at: termsExpireAt(nowMs),
    state: 'open',
    method: null,
    proof: null,
    proven_at: null,
    dns_proven_at: null,
    wallet_proven_at: null,
    takes_over_at: null,
    failures: 0,
    checked_at: source.last_check === null ? null : source.checked_at,
    next_check_at: null,
    report: reportOf(deps, source, holder?.method ?? null, wallet),
    created_at: new Date(nowMs),
  }
}

function reportOf(deps: SourceDeps, source: SourceRow, held: ProofMethod | null, wallet: Address): ClaimRow['report'] {
  if (source.last_check === null) return null
  const { verdict } = classifyWallet(deps, source.domain, wallet, source.last_check)
  if (verdict.status !== 'proven') return { status: verdict.status, notes: verdict.notes }
  const note =
    strengthOf(held) > strengthOf(verdict.method)
      ? `Your value was found, but the holder has a stronger proof (${held}); prove the domain in the same way or by DNS.`
      : 'Your value was found; verify again.'
  return { status: 'missing', notes: { [verdict.method]: note } }
}
