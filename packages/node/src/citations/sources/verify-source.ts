import type { Hex } from '../../kernel/bytes.ts'
import { Problem } from '../../kernel/problem.ts'
import { verifyStatement } from '../../proofs/index.ts'
import type { Sql, Tx } from '../../store/database.ts'
import type { SourceDeps } from '../deps.ts'
import { gatherProof, type ProofEvidence } from '../proof/gather-proof.ts'
import type { ProofTerms } from '../proof/instructions.ts'
import { judgeClaim, type ProofVerdict } from '../proof/judge-claim.ts'
import { walletStatement } from '../proof/wallet-statement.ts'
import { wantCrawl, wantScore } from './ask-for-work.ts'
import { type ClaimRow, findSource, liveClaims, lockSource, type SourceRow } from './records.ts'
import { takeOutOwn } from './take-out-own.ts'

export const termsOf = (claim: ClaimRow): ProofTerms => ({
  claimId: claim.id,
  domain: claim.domain,
  wallet: claim.wallet,
  token: claim.token,
})

/** Looks at the domain now and brings every live claim of it up to date. False when it was looked at a moment ago. */
export async function verifySource(deps: SourceDeps, domain: string): Promise<boolean> {
  if (!(await takeTurn(deps, domain))) return false
  const evidence = await gatherProof(deps, domain)
  const signatures: { claim: ClaimRow; signature: Hex }[] = []
  await deps.database.transaction(async (tx) => {
    signatures.length = 0
    const source = await lockSource(tx, domain)
    if (!source || source.state === 'refused') return
    const judged = (await liveClaims(tx, domain)).map((claim) => ({
      claim,
      verdict: judgeClaim(deps.base, termsOf(claim), evidence),
    }))
    await writeReports(deps, tx, judged)
    for (const { claim, verdict } of judged) {
      if (verdict.status === 'proven' && verdict.signature !== undefined && claim.wallet_proven_at === null)
        signatures.push({ claim, signature: verdict.signature })
      await recordVerdict(deps, tx, claim, verdict, evidence)
    }
    await settleState(deps, tx, source)
  })
  // A signature in the file is as good as one sent to us; checking it may need the chain, so not in the transaction.
  for (const { claim, signature } of signatures) await proveWallet(deps, claim, signature).catch(() => {})
  await wantCrawl(deps.database, domain, deps.clock, deps.settings.recrawlPauseMs)
  await wantScore(deps.database, domain, deps.clock)
  return true
}

/** One look at a time, over all processes, and not again at once: the check costs requests to somebody's site. */
async function takeTurn(deps: SourceDeps, domain: string): Promise<boolean> {
  const now = new Date(deps.clock.nowMs())
  const { rowCount } = await deps.database.query(
    `update source set checked_at = $2 where domain = $1 and (checked_at is null or checked_at <= $3)`,
    [domain, now, new Date(now.getTime() - deps.settings.checkPauseMs)],
  )
  return rowCount === 1
}

/** A domain that many claim is written in one statement. */
async function writeReports(
  deps: SourceDeps,
  tx: Tx,
  judged: readonly { claim: ClaimRow; verdict: ProofVerdict }[],
): Promise<void> {
  await tx.query(
    `update source_claim c set checked_at = $3, report = g.report::jsonb
     from unnest($1::text[], $2::text[]) as g(id, report) where c.id = g.id`,
    [
      judged.map(({ claim }) => claim.id),
      judged.map(({ verdict }) =>
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
): Promise<void> {
  const nowMs = deps.clock.nowMs()
  if (verdict.status === 'proven') await recordProof(deps, tx, claim, verdict)
  // A site that is gone fails like one that took its proof away; when our own resolvers are silent, nobody failed.
  else if (claim.state === 'proven' && (claim.next_check_at?.getTime() ?? 0) <= nowMs)
    await tx.query('update source_claim set failures = failures + $2, next_check_at = $3 where id = $1', [
      claim.id,
      verdict.status === 'missing' || evidence.dns.status !== 'unreadable' ? 1 : 0,
      new Date(nowMs + deps.settings.retryCheckMs),
    ])
}

async function recordProof(
  deps: SourceDeps,
  tx: Tx,
  claim: ClaimRow,
  verdict: ProofVerdict & { status: 'proven' },
): Promise<void> {
  const nowMs = deps.clock.nowMs()
  // A token proves once, and only while it is fresh; afterwards its standing there is what the weekly check looks for.
  if (claim.state === 'open' && claim.token_expires_at.getTime() <= nowMs) {
    const report = {
      status: 'missing',
      notes: { [verdict.method]: 'The published token has expired; register again for a new one.' },
    }
    await tx.query('update source_claim set report = $2 where id = $1', [claim.id, report])
    return
  }
  const byDns = verdict.all.includes('dns')
  await tx.query(
    `update source_claim set method = $2, proof = $3, failures = 0, next_check_at = $4,
       proven_at = coalesce(proven_at, $5), dns_proven_at = case when $6 then coalesce(dns_proven_at, $5) end,
       state = case when state = 'open' then 'waiting' else state end
     where id = $1`,
    [claim.id, verdict.method, verdict.evidence, new Date(nowMs + deps.settings.recheckMs), new Date(nowMs), byDns],
  )
}

/** What the claims, as they stand now, make of the source. */
async function settleState(deps: SourceDeps, tx: Tx, source: SourceRow): Promise<void> {
  const claims = await liveClaims(tx, source.domain)
  const holder = claims.find((claim) => claim.state === 'proven')
  const newcomers = claims.filter((claim) => claim.state === 'waiting' && claim.takes_over_at === null)
  if (!holder) {
    const first = newcomers[0] ?? claims.find((claim) => claim.state === 'waiting')
    if (first) return installHolder(deps, tx, source, first)
    await setState(deps, tx, source.domain, 'proving', 'No way of proof shows the values of a claim yet.')
    return
  }
  for (const claim of newcomers) await openContest(deps, tx, source, claim)
  await settleHolder(deps, tx, source, holder)
}

export async function installHolder(deps: SourceDeps, tx: Tx, source: SourceRow, claim: ClaimRow): Promise<void> {
  await tx.query(
    `update source_claim set state = 'superseded', takes_over_at = null where domain = $1 and state = 'proven'`,
    [source.domain],
  )
  await tx.query(`update source_claim set state = 'proven', takes_over_at = null where id = $1`, [claim.id])
  await tx.query('update source set proven_claim = $2 where domain = $1', [source.domain, claim.id])
  await takeOutOwn(deps, tx, source.domain, claim.wallet)
  await setState(deps, tx, source.domain, 'proven', `Proven by ${claim.method ?? 'proof'}.`)
  await wantCrawl(tx, source.domain, deps.clock)
}

/** A second proof: with the paid wallet's consent a change after a delay, without it a dispute with notice. */
async function openContest(deps: SourceDeps, tx: Tx, source: SourceRow, claim: ClaimRow): Promise<void> {
  const nowMs = deps.clock.nowMs()
  const waitMs = claim.consented ? deps.settings.walletDelayMs : deps.settings.noticeMs
  await tx.query('update source_claim set takes_over_at = $2 where id = $1', [claim.id, new Date(nowMs + waitMs)])
  if (claim.consented) return
  await tx.query(
    `insert into source_dispute (id, domain, kind, claim_id, statement, state, opened_at, notice_until)
     values ($1, $2, 'ownership', $3, 'A second claim has proven the domain.', 'pending', $4, $5)`,
    [deps.ids.next('dsp'), source.domain, claim.id, new Date(nowMs), new Date(nowMs + waitMs)],
  )
}

export async function settleHolder(deps: SourceDeps, tx: Tx, source: SourceRow, holder: ClaimRow): Promise<void> {
  const { rows } = await tx.query<{ until: Date }>(
    `select notice_until as until from source_dispute where domain = $1 and kind = 'ownership' and state = 'pending' order by notice_until limit 1`,
    [source.domain],
  )
  const [dispute] = rows
  if (dispute)
    return setState(
      deps,
      tx,
      source.domain,
      'disputed',
      `Another claim has proven the domain too; the newest DNS proof wins on ${dispute.until.toISOString()}.`,
    )
  if (holder.failures >= deps.settings.failuresUntilHeld)
    return setState(
      deps,
      tx,
      source.domain,
      'held',
      `The proof was not found ${holder.failures} times; publish it again and verify, then payouts go on.`,
    )
  await setState(deps, tx, source.domain, 'proven', `Proven by ${holder.method ?? 'proof'}.`)
}

export async function setState(
  deps: Pick<SourceDeps, 'clock'>,
  sql: Sql,
  domain: string,
  state: SourceRow['state'],
  reason: string,
): Promise<void> {
  await sql.query(
    'update source set state = $2, state_reason = $3, updated_at = $4 where domain = $1 and (state, state_reason) is distinct from ($2, $3)',
    [domain, state, reason, new Date(deps.clock.nowMs())],
  )
}

/** Checks and keeps the payout wallet's signature. Throws a Problem when it is not one. */
export async function proveWallet(deps: SourceDeps, claim: ClaimRow, signature: Hex): Promise<void> {
  await verifyStatement(deps.proofs, {
    node: deps.apiUrl,
    account: { chainId: deps.base.chainId, address: claim.wallet },
    statement: walletStatement(termsOf(claim)),
    signature,
  })
  // The token in the statement must still be the claim's: a renewed one asks for a new signature.
  await deps.database.query('update source_claim set wallet_proven_at = $3 where id = $1 and token = $2', [
    claim.id,
    claim.token,
    new Date(deps.clock.nowMs()),
  ])
}

export async function claimOfWallet(
  deps: SourceDeps,
  domain: string,
  wallet: string | undefined,
): Promise<ClaimRow | undefined> {
  const claims = await liveClaims(deps.database, domain)
  if (wallet !== undefined) {
    const own = claims.find((claim) => claim.wallet === wallet)
    if (!own)
      throw new Problem('source_unknown', {
        detail: `${wallet} has no claim on ${domain}.`,
        hint: 'Register the domain with this wallet first: POST /v1/sources/register.',
      })
    return own
  }
  const source = await findSource(deps.database, domain)
  return claims.find((claim) => claim.id === source?.proven_claim) ?? claims.at(-1)
}
