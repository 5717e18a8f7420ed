import { type Address, checksumAddress } from '@assay/protocol/address'
import { statementTypedData } from '@assay/till/proofs'
import type { HostFindings } from '../crawl/findings.ts'
import type { SourceDeps } from '../deps.ts'
import { readDecisions } from '../pages/read-decisions.ts'
import { licenceOf } from '../pages/source-terms.ts'
import { instructions } from '../proof/instructions.ts'
import { walletStatement } from '../proof/wallet-statement.ts'
import { openClaim } from './newcomers.ts'
import { nextSteps } from './next-steps.ts'
import { readEarnings } from './read-earnings.ts'
import { type ClaimRow, findSource, liveClaims, type SourceRow } from './records.ts'
import { termsOf } from './verify-source.ts'

const historyShown = 20

type ScoreRow = {
  seq: number
  score: number
  confidence: number
  model_version: string
  components: Record<string, unknown>
  jws: string
  computed_at: Date
}

/** The public view of a source; with a wallet also what it has to publish. */
export async function describeSource(deps: SourceDeps, domain: string, wallet?: Address) {
  const source = await findSource(deps.database, domain)
  if (!source) return undefined
  const [claims, history, crawl, disputes, earnings, terms] = await Promise.all([
    liveClaims(deps.database, domain),
    deps.database.query<ScoreRow>(
      'select seq, score, confidence, model_version, components, jws, computed_at from source_score where domain = $1 order by seq desc limit $2',
      [domain, historyShown],
    ),
    readCrawl(deps, domain),
    deps.database.query<{ id: string; kind: string; state: string; opened_at: Date; notice_until: Date | null }>(
      `select id, kind, state, opened_at, notice_until from source_dispute where domain = $1 and state <> 'received' order by opened_at desc limit 10`,
      [domain],
    ),
    readEarnings(deps.database, domain),
    readDecisions(deps.database, domain),
  ])
  const holder = claims.find((claim) => claim.id === source.proven_claim)
  const own = wallet && (claims.find((claim) => claim.wallet === wallet) ?? openClaim(deps, source, holder, wallet))
  return {
    ...summaryOf(source),
    ...(source.homograph
      ? { homograph: { kind: source.homograph.kind, looks_like: source.homograph.looksLike ?? null } }
      : {}),
    next_steps: nextSteps({ source, holder, claim: own, crawl, advice: adviceOf(history.rows[0]) }),
    proof: holder ? proofOf(holder) : null,
    payout: payoutOf(source, holder),
    claim: own ? claimOf(deps, own, source) : null,
    score: scoreOf(source, history.rows),
    crawl: {
      pages_indexed: crawl.pages,
      pages_known: crawl.known,
      finished_at: crawl.finishedAt,
      problem: crawl.problem,
      problems: crawl.problems,
      robots: crawl.findings.robots?.status ?? 'unknown',
      sitemap: crawl.findings.sitemap?.status ?? 'unknown',
    },
    licence: crawl.licence,
    terms,
    earnings,
    disputes: disputes.rows.map((row) => ({
      id: row.id,
      kind: row.kind,
      state: row.state,
      opened_at: row.opened_at.toISOString(),
      notice_until: row.notice_until?.toISOString() ?? null,
    })),
    links: { self: `${deps.apiUrl}/v1/sources/${domain}`, verify: `${deps.apiUrl}/v1/sources/${domain}/verify` },
  }
}

export function summaryOf(source: SourceRow) {
  return {
    domain: source.domain,
    display: source.display,
    registrable_domain: source.registrable,
    origin: source.origin,
    state: source.state,
    state_reason: source.state_reason,
    cite_score: source.cite_score,
    confidence: source.confidence === null ? null : Math.round(source.confidence * 1_000) / 1_000,
    registered_at: source.registered_at.toISOString(),
    updated_at: source.updated_at.toISOString(),
    synthetic: source.synthetic,
  }
}

const proofOf = (holder: ClaimRow) => ({
  method: holder.method,
  proven_at: holder.proven_at?.toISOString() ?? null,
  next_check_at: holder.next_check_at?.toISOString() ?? null,
  failures: holder.failures,
  evidence: holder.proof,
})

/** Money flows only to a wallet that asked for it, for a domain whose proof is valid. */
export function payoutOf(source: SourceRow, holder: ClaimRow | undefined) {
  if (!holder) return { state: 'unproven' as const, wallet: null }
  const wallet = checksumAddress(holder.wallet)
  if (source.state !== 'proven') return { state: 'held' as const, wallet }
  return {
    state: holder.wallet_proven_at === null ? ('awaiting_wallet_signature' as const) : ('active' as const),
    wallet,
  }
}

function claimOf(deps: SourceDeps, claim: ClaimRow, source: SourceRow) {
  const terms = termsOf(claim)
  const statement = walletStatement(terms)
  return {
    id: terms.claimId,
    state: claim.state,
    wallet: checksumAddress(claim.wallet),
    token_expires_at: claim.state === 'open' ? claim.token_expires_at.toISOString() : null,
    takes_over_at: claim.takes_over_at?.toISOString() ?? null,
    prove: instructions(deps.base, terms, source.origin),
    wallet_proven: claim.wallet_proven_at !== null,
    wallet_statement: statementTypedData(statement, deps.apiUrl, deps.base.chainId),
    checked_at: claim.checked_at?.toISOString() ?? null,
    report: claim.report,
  }
}

const adviceOf = (row: ScoreRow | undefined) =>
  (row?.components['advice'] ?? []) as { advice: string; points: number }[]

function scoreOf(source: SourceRow, history: readonly ScoreRow[]) {
  const [newest] = history
  if (!newest) return null
  return {
    value: newest.score,
    confidence: Math.round(newest.confidence * 1_000) / 1_000,
    model_version: newest.model_version,
    computed_at: (source.scored_at ?? newest.computed_at).toISOString(),
    ...newest.components,
    history: history.map((row) => ({
      seq: row.seq,
      score: row.score,
      computed_at: row.computed_at.toISOString(),
      model_version: row.model_version,
      jws: row.jws,
    })),
  }
}

async function readCrawl(deps: SourceDeps, domain: string) {
  const { rows } = await deps.database.query<{
    findings: HostFindings
    finished_at: Date | null
    last_problem: string | null
    pages: bigint
    known: bigint
    licence: string | null
    licence_url: string | null
    home_problem: string | null
    problems: { problem: string; pages: number; example: string }[]
  }>(
    `select h.findings, h.finished_at, h.last_problem,
       (select count(*) from crawl_page p where p.domain = h.domain and p.facts is not null) as pages,
       (select count(*) from crawl_page p where p.domain = h.domain) as known,
       l.licence->>'name' as licence, l.licence->>'url' as licence_url,
       (select p.problem from crawl_page p where p.domain = h.domain and p.found_by = 'home' limit 1) as home_problem,
       (select coalesce(jsonb_agg(to_jsonb(r)), '[]') from (
         select p.problem, count(*)::int as pages, min(p.url) as example from crawl_page p
         where p.domain = h.domain and p.problem is not null group by p.problem order by count(*) desc, p.problem limit 10) as r) as problems
     from crawl_host h
     left join lateral (
       select p.facts->'licences'->0 as licence from crawl_page p
       where p.domain = h.domain and jsonb_array_length(p.facts->'licences') > 0 order by p.url limit 1) l on true
     where h.domain = $1`,
    [domain],
  )
  const [row] = rows
  return {
    findings: row?.findings ?? {},
    pages: Number(row?.pages ?? 0),
    known: Number(row?.known ?? 0),
    finishedAt: row?.finished_at?.toISOString() ?? null,
    problem: row?.last_problem ?? null,
    homeProblem: row?.home_problem ?? null,
    problems: row?.problems ?? [],
    licence: licenceOf(row?.findings.rsl, row && { name: row.licence, url: row.licence_url }),
  }
}
