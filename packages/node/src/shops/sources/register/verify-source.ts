import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { verifyStatement } from '@assay/till/proofs'
import type { Tx } from '@assay/till/store/database'
import type { SourceDeps } from '../deps.ts'
import { checkClaim, methodNow, type ProofVerdict } from '../proof/check-claim.ts'
import { freshTerms } from '../proof/claim-token.ts'
import { gatherProof, type ProofEvidence } from '../proof/gather-proof.ts'
import type { ProofTerms } from '../proof/instructions.ts'
import { walletStatement } from '../proof/wallet-statement.ts'
import { requestCrawl, requestScore } from './ask-for-work.ts'
import { findNewcomers } from './newcomers.ts'
import { type ClaimRow, findSource, liveClaims, lockSource } from './records.ts'
import { type CheckedClaim, settleState } from './source-state.ts'

export const termsOf = (claim: ClaimRow): ProofTerms => ({
  claimId: claim.account ?? claim.id,
  domain: claim.domain,
  wallet: claim.wallet,
  token: claim.token,
})

/** Checks the domain now and brings every claim of it up to date. False when it was checked recently. */
export async function verifySource(deps: SourceDeps, domain: string): Promise<boolean> {
  if (!(await takeTurn(deps, domain))) return false
  const evidence = await gatherProof(deps, domain)
  const signatures: { claim: ClaimRow; signature: Hex }[] = []
  await deps.database.transaction(async (tx) => {
    signatures.length = 0
    const source = await lockSource(tx, domain)
    if (!source || source.state === 'refused') return
    const claims = (await liveClaims(tx, domain)).map((claim) => ({
      claim,
      verdict: checkClaim(deps.base, termsOf(claim), evidence),
    }))
    const newcomers = findNewcomers(
      deps,
      domain,
      claims.map(({ claim }) => claim),
      evidence,
    )
    await saveCheck(tx, domain, evidence)
    await writeReports(deps, tx, claims)
    const checked: CheckedClaim[] = []
    for (const { claim, verdict } of claims) checked.push(await recordVerdict(deps, tx, claim, verdict, evidence))
    const added = await settleState(deps, tx, source, checked, newcomers)
    for (const claim of [...claims.map((one) => one.claim), ...added]) {
      const verdict = checkClaim(deps.base, termsOf(claim), evidence)
      if (verdict.status === 'proven' && verdict.signature !== undefined && claim.wallet_proven_at === null)
        signatures.push({ claim, signature: verdict.signature })
    }
  })
  // A signature in the file is as good as one sent to us; checking it may need the chain, so not in the transaction.
  for (const { claim, signature } of signatures) await proveWallet(deps, claim, signature).catch(() => {})
  await requestCrawl(deps.database, domain, deps.clock, deps.settings.recrawlPauseMs)
  await requestScore(deps.database, domain, deps.clock)
  return true
}

/** One check at a time, over all processes, and not again at once: the check costs requests to somebody's site. */
async function takeTurn(deps: SourceDeps, domain: string): Promise<boolean> {
  const now = new Date(deps.clock.nowMs())
  const { rowCount } = await deps.database.query(
    `update source set checked_at = $2 where domain = $1 and (checked_at is null or checked_at <= $3)`,
    [domain, now, new Date(now.getTime() - deps.settings.checkPauseMs)],
  )
  return rowCount === 1
}

/** Signatures are large, and of no use to those who read what was found. */
async function saveCheck(tx: Tx, domain: string, evidence: ProofEvidence): Promise<void> {
  const lastCheck = JSON.stringify(evidence, (key, value: unknown) => (key === 'signature' ? undefined : value))
  await tx.query('update source set last_check = $2 where domain = $1', [domain, lastCheck])
}

/** A domain that many claim is written in one statement. */
async function writeReports(
  deps: SourceDeps,
  tx: Tx,
  checked: readonly { claim: ClaimRow; verdict: ProofVerdict }[],
): Promise<void> {
  await tx.query(
    `update source_claim c set checked_at = $3, report = g.report::jsonb
     from unnest($1::text[], $2::text[]) as g(id, report) where c.id = g.id`,
    [
      checked.map(({ claim }) => claim.id),
      checked.map(({ verdict }) =>
        JSON.stringify({ status: verdict.status, notes: verdict.status === 'proven' ? {} : verdict.notes }),
      ),
      new Date(deps.clock.nowMs()),
    ],
  )
}

async function recordVerdict(
  deps: SourceDeps,
  tx: Tx,
  claim: ClaimRow,
  verdict: ProofVerdict,
  evidence: ProofEvidence,
): Promise<CheckedClaim> {
  const method = methodNow(claim.method, verdict, evidence)
  if (verdict.status === 'proven') return { claim: await recordProof(deps, tx, claim, verdict, method), method }
  const nowMs = deps.clock.nowMs()
  if ((claim.next_check_at?.getTime() ?? 0) > nowMs) return { claim, method }
  // A site that is down fails like one without the proof; when our own resolvers are silent, nobody failed.
  const failed = verdict.status === 'missing' || evidence.dns.status !== 'unreadable' ? 1 : 0
  const { rows } = await tx.query<ClaimRow>(
    'update source_claim set failures = failures + $2, next_check_at = $3 where id = $1 returning *',
    [
      claim.id,
      failed,
      new Date(nowMs + (claim.state === 'waiting' ? deps.settings.contestCheckMs : deps.settings.retryCheckMs)),
    ],
  )
  return { claim: rows[0] ?? claim, method }
}

async function recordProof(
  deps: SourceDeps,
  tx: Tx,
  claim: ClaimRow,
  verdict: ProofVerdict & { status: 'proven' },
  method: ClaimRow['method'] | undefined,
): Promise<ClaimRow> {
  const nowMs = deps.clock.nowMs()
  const { settings } = deps
  const { rows } = await tx.query<ClaimRow>(
    `update source_claim set method = $2, proof = $3, failures = 0, next_check_at = $4,
       proven_at = coalesce(proven_at, $5), dns_proven_at = case when $6 then coalesce(dns_proven_at, $5) end
     where id = $1 returning *`,
    [
      claim.id,
      method,
      // While the stronger way cannot be checked, its record stays the one that counts.
      method === verdict.method ? verdict.evidence : claim.proof,
      new Date(nowMs + (claim.state === 'waiting' ? settings.contestCheckMs : settings.recheckMs)),
      new Date(nowMs),
      method === 'dns',
    ],
  )
  return rows[0] ?? claim
}

/**
 * Checks and keeps the payout wallet's signature. Throws a Problem when it is not one. Before a proof was found there is no
 * claim to keep it with: it is checked all the same.
 */
export async function proveWallet(
  deps: SourceDeps,
  { domain, wallet }: { domain: string; wallet: Address },
  signature: Hex,
): Promise<void> {
  const claim = (await liveClaims(deps.database, domain)).find((one) => one.wallet === wallet)
  // The values that were signed may be those of another day than the ones that were published.
  const fresh = freshTerms(deps.claimSecret, domain, wallet, deps.clock.nowMs())
  const [first, ...others] = claim ? [termsOf(claim), ...fresh] : fresh
  if (!first) return
  await verifyTerms(deps, first, signature).catch(async (failure: unknown) => {
    for (const terms of others)
      if (
        await verifyTerms(deps, terms, signature).then(
          () => true,
          () => false,
        )
      )
        return
    throw failure
  })
  if (claim)
    await deps.database.query('update source_claim set wallet_proven_at = $3 where id = $1 and token = $2', [
      claim.id,
      claim.token,
      new Date(deps.clock.nowMs()),
    ])
}

const verifyTerms = (deps: SourceDeps, terms: ProofTerms, signature: Hex) =>
  verifyStatement(deps.proofs, {
    node: deps.apiUrl,
    account: { chainId: deps.base.chainId, address: terms.wallet },
    statement: walletStatement(terms),
    signature,
  })

/** The claim of a wallet, or the holder. Undefined when no proof of it was found. */
export async function claimOfWallet(
  deps: SourceDeps,
  domain: string,
  wallet: string | undefined,
): Promise<ClaimRow | undefined> {
  const claims = await liveClaims(deps.database, domain)
  if (wallet !== undefined) return claims.find((claim) => claim.wallet === wallet)
  const source = await findSource(deps.database, domain)
  return claims.find((claim) => claim.id === source?.proven_claim)
}
