import type { SourceDeps } from '../deps.ts'
import { checkClaim, methodNow, type ProofMethod, strengthOf } from '../proof/check-claim.ts'
import { gatherProof } from '../proof/gather-proof.ts'
import { requestScore } from './ask-for-work.ts'
import { type ClaimRow, liveClaims, lockSource } from './records.ts'
import { closeContest, installHolder, settleHolder } from './source-state.ts'
import { termsOf, verifySource } from './verify-source.ts'

const atOnce = 20

/** Proofs and contests that are due for a check, then claims whose notice or delay has ended. */
export async function recheckSources(deps: SourceDeps): Promise<number> {
  const now = new Date(deps.clock.nowMs())
  const due = await deps.database.query<{ domain: string }>(
    `select c.domain from source_claim c join source s on s.domain = c.domain and s.state <> 'refused'
     where c.state in ('waiting', 'proven') and c.next_check_at <= $1
     group by c.domain order by min(c.next_check_at), c.domain limit $2`,
    [now, atOnce],
  )
  for (const { domain } of due.rows) await verifySource(deps, domain)
  const ended = await deps.database.query<{ domain: string }>(
    `select c.domain from source_claim c join source s on s.domain = c.domain and s.state <> 'refused'
     where c.state = 'waiting' and c.takes_over_at <= $1
     group by c.domain order by min(c.takes_over_at), c.domain limit $2`,
    [now, atOnce],
  )
  for (const { domain } of ended.rows) await settleContest(deps, domain)
  return due.rows.length + ended.rows.length
}

/** The newest DNS proof wins. Without any, the holder stays while it is proven; else the strongest proof, then the newest. */
export async function settleContest(deps: SourceDeps, domain: string): Promise<void> {
  const evidence = await gatherProof(deps, domain)
  if (evidence.dns.status === 'unreadable') return
  await deps.database.transaction(async (tx) => {
    const source = await lockSource(tx, domain)
    if (!source || source.state === 'refused') return
    const claims = await liveClaims(tx, domain)
    const nowMs = deps.clock.nowMs()
    const ended = claims.filter(
      (claim) => claim.state === 'waiting' && (claim.takes_over_at?.getTime() ?? Number.POSITIVE_INFINITY) <= nowMs,
    )
    const holder = claims.find((claim) => claim.state === 'proven')
    const proven = [...ended, ...(holder ? [holder] : [])].flatMap((claim) => {
      const method = methodNow(claim.method, checkClaim(deps.base, termsOf(claim), evidence), evidence)
      return method === undefined ? [] : [{ claim, method }]
    })
    const winner = chooseWinner(proven, holder)
    for (const claim of ended) if (claim !== winner) await closeContest(deps, tx, claim, 'The earlier claim stays.')
    if (winner && winner !== holder) await installHolder(deps, tx, source, winner)
    // Another contest may still be pending, and the holder's own proof may be missing.
    const stays = winner && winner !== holder ? { ...winner, failures: 0 } : holder
    if (stays) await settleHolder(deps, tx, source, stays)
  })
  await requestScore(deps.database, domain, deps.clock)
}

function chooseWinner(
  proven: readonly { claim: ClaimRow; method: ProofMethod }[],
  holder: ClaimRow | undefined,
): ClaimRow | undefined {
  const provenAt = (claim: ClaimRow) => Number(claim.dns_proven_at ?? claim.proven_at ?? 0)
  const newest = (list: readonly { claim: ClaimRow; method: ProofMethod }[]) =>
    [...list].sort(
      (one, other) => strengthOf(other.method) - strengthOf(one.method) || provenAt(other.claim) - provenAt(one.claim),
    )[0]?.claim
  // A holder that agreed to a change of wallet does not contest it, however strong its own proof is.
  const agreed = proven.find(({ claim }) => claim.consented && claim !== holder)
  const contenders = agreed ? proven.filter(({ claim }) => claim !== holder) : proven
  const byDns = newest(contenders.filter(({ method }) => method === 'dns'))
  if (byDns) return byDns
  if (agreed) return agreed.claim
  if (holder && proven.some(({ claim }) => claim === holder)) return holder
  return newest(proven) ?? holder
}
