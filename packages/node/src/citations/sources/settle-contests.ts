import type { SourceDeps } from '../deps.ts'
import { gatherProof } from '../proof/gather-proof.ts'
import { judgeClaim } from '../proof/judge-claim.ts'
import { wantScore } from './ask-for-work.ts'
import { type ClaimRow, liveClaims, lockSource } from './records.ts'
import { installHolder, settleHolder, termsOf, verifySource } from './verify-source.ts'

const atOnce = 20

/** Re-checks that are due, then claims whose notice or delay has ended. */
export async function recheckSources(deps: SourceDeps): Promise<number> {
  const now = new Date(deps.clock.nowMs())
  const due = await deps.database.query<{ domain: string }>(
    `select distinct domain from source_claim where state = 'proven' and next_check_at <= $1 limit $2`,
    [now, atOnce],
  )
  for (const { domain } of due.rows) await verifySource(deps, domain)
  const ended = await deps.database.query<{ domain: string }>(
    `select distinct domain from source_claim where state = 'waiting' and takes_over_at <= $1 limit $2`,
    [now, atOnce],
  )
  for (const { domain } of ended.rows) await settleContest(deps, domain)
  return due.rows.length + ended.rows.length
}

/** The newest DNS proof wins. Without one the holder stays, unless its own proof is gone while another's stands. */
export async function settleContest(deps: SourceDeps, domain: string): Promise<void> {
  const evidence = await gatherProof(deps, domain)
  if (evidence.dns.status === 'unreadable') return
  await deps.database.transaction(async (tx) => {
    const source = await lockSource(tx, domain)
    if (!source) return
    const claims = await liveClaims(tx, domain)
    const nowMs = deps.clock.nowMs()
    const ended = claims.filter(
      (claim) => claim.state === 'waiting' && (claim.takes_over_at?.getTime() ?? Number.POSITIVE_INFINITY) <= nowMs,
    )
    const holder = claims.find((claim) => claim.state === 'proven')
    const standing = [...ended, ...(holder ? [holder] : [])].flatMap((claim) => {
      const verdict = judgeClaim(deps.base, termsOf(claim), evidence)
      return verdict.status === 'proven' ? [{ claim, byDns: verdict.all.includes('dns') }] : []
    })
    const winner = chooseWinner(standing, holder)
    for (const claim of ended)
      if (claim !== winner)
        await tx.query(`update source_claim set state = 'lost', takes_over_at = null where id = $1`, [claim.id])
    for (const claim of ended)
      await tx.query(
        `update source_dispute set state = $3, closed_at = $2, outcome = $4 where claim_id = $1 and state = 'pending'`,
        [
          claim.id,
          new Date(nowMs),
          claim === winner ? 'upheld' : 'rejected',
          claim === winner ? 'The claim took over.' : 'The earlier claim stands.',
        ],
      )
    if (winner && winner !== holder) await installHolder(deps, tx, source, winner)
    // Another contest may still be pending, and the holder's own proof may be missing.
    const stays = winner && winner !== holder ? { ...winner, failures: 0 } : holder
    if (stays) await settleHolder(deps, tx, source, stays)
  })
  await wantScore(deps.database, domain, deps.clock)
}

function chooseWinner(
  standing: readonly { claim: ClaimRow; byDns: boolean }[],
  holder: ClaimRow | undefined,
): ClaimRow | undefined {
  const newest = (list: readonly { claim: ClaimRow }[]) =>
    list
      .map(({ claim }) => claim)
      .sort(
        (one, other) =>
          Number(other.dns_proven_at ?? other.proven_at ?? 0) - Number(one.dns_proven_at ?? one.proven_at ?? 0),
      )[0]
  // Whoever agreed to a change of wallet no longer stands against it, however strong its own proof is.
  const agreed = standing.find(({ claim }) => claim.consented && claim !== holder)
  const contenders = agreed ? standing.filter(({ claim }) => claim !== holder) : standing
  const byDns = newest(contenders.filter((entry) => entry.byDns))
  if (byDns) return byDns
  if (agreed) return agreed.claim
  if (holder && standing.some(({ claim }) => claim === holder)) return holder
  return newest(standing) ?? holder
}
