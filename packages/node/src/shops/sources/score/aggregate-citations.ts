import type { Json } from '@assay/protocol/canonical-json'
import type { Tx } from '@assay/till/store/database'
import type { SourceDeps } from '../deps.ts'
import { authorityPrior, halfMarketStake, rankListWorth } from './components.ts'
import { componentWeights, modelVersion } from './model.ts'
import { refreshWeights, takeBonds } from './refresh-weights.ts'
import { draftScore, insertScores, type PreviousScore } from './score-history.ts'
import type { Citation } from './trust-graph.ts'

export type AggregateOutcome = { agents: number; sources: number; rescored: number }

/**
 * Takes new citations into the books of trust: only the rows of the agents that cited are aggregated again, and only the
 * sources in those rows are scored again. Self-dealing is left out by the caller, who knows the parties.
 */
export async function aggregateCitations(
  deps: Pick<SourceDeps, 'database' | 'clock' | 'jws'>,
  citations: readonly Citation[],
): Promise<AggregateOutcome> {
  return deps.database.transaction(async (tx) => {
    const now = new Date(deps.clock.nowMs())
    const counted = countCitations(citations)
    const agents = [...new Set(counted.map(({ agent }) => agent))].sort()
    await enterAgents(tx, agents, now)
    // In one order everywhere, so that two batches wait for each other instead of locking crosswise.
    await tx.query('select agent from citing_agent where agent = any($1) order by agent for update', [agents])
    const changed = await aggregateRows(tx, agents, now, () => addEdges(tx, counted))
    const rescored = await rescoreAuthority(deps, tx, changed)
    return { agents: agents.length, sources: changed.length, rescored }
  })
}

/** New agents are their own cluster. */
async function enterAgents(tx: Tx, agents: readonly string[], now: Date): Promise<void> {
  await tx.query(
    `insert into citing_agent (agent, cluster, first_seen_at) select agent, agent, $2 from unnest($1::text[]) as t(agent)
     on conflict do nothing`,
    [agents, now],
  )
}

type Counted = { agent: string; source: string; count: number; quotes: number }

function countCitations(citations: readonly Citation[]): Counted[] {
  const counts = new Map<string, Counted>()
  for (const { agent, source, quoted } of citations) {
    const key = `${agent} ${source}`
    const known = counts.get(key) ?? { agent, source, count: 0, quotes: 0 }
    known.count += 1
    if (quoted) known.quotes += 1
    counts.set(key, known)
  }
  return [...counts.values()]
}

/**
 * What was cited within one's own cluster says nothing about a source: removed again as soon as it is known whose it is, so
 * that it weighs nothing from that moment on.
 */
export async function cutCitations(
  deps: Pick<SourceDeps, 'clock' | 'jws'>,
  tx: Tx,
  domain: string,
  agents: readonly string[],
): Promise<void> {
  const { rows } = await tx.query<{ agent: string }>(
    `select a.agent from citing_agent a join citation_edge e on e.agent = a.agent
     where e.domain = $1 and a.agent = any($2) order by a.agent for update of a`,
    [domain, agents],
  )
  const touched = rows.map(({ agent }) => agent)
  if (touched.length === 0) return
  const changed = await aggregateRows(tx, touched, new Date(deps.clock.nowMs()), () =>
    tx.query('delete from citation_edge where domain = $1 and agent = any($2)', [domain, touched]),
  )
  await rescoreAuthority(deps, tx, changed)
}

async function addEdges(tx: Tx, counted: readonly Counted[]): Promise<void> {
  await tx.query(
    // A citation of what is no source yet has nowhere to go; it must not stop the others.
    `insert into citation_edge (agent, domain, citations, quotes)
     select t.* from unnest($1::text[], $2::text[], $3::integer[], $4::integer[]) as t(agent, domain, citations, quotes) join source using (domain)
     on conflict (agent, domain) do update set citations = citation_edge.citations + excluded.citations,
       quotes = citation_edge.quotes + excluded.quotes`,
    [
      counted.map((one) => one.agent),
      counted.map((one) => one.source),
      counted.map((one) => one.count),
      counted.map((one) => one.quotes),
    ],
  )
}

/** Differences of what each touched agent gave before the change and gives after it, summed by source. */
async function aggregateRows(
  tx: Tx,
  agents: readonly string[],
  now: Date,
  change: () => Promise<unknown>,
): Promise<string[]> {
  await tx.query(
    `create temporary table aggregated_before on commit drop as
     select e.agent, e.domain, a.weight * sqrt(e.citations) / a.row_sum as share, a.weight as stake
     from citation_edge e join citing_agent a on a.agent = e.agent
     where e.agent = any($1) and a.weight > 0 and a.row_sum > 0`,
    [agents],
  )
  await change()
  await tx.query(
    `update citing_agent a set row_sum = coalesce(
       (select sum(sqrt(citations)) from citation_edge e where e.agent = a.agent), 0) where a.agent = any($1)`,
    [agents],
  )
  const { rows } = await tx.query<{ domain: string }>(
    `with differences as (
       select domain, sum(share) as mass, sum(stake) as stake from (
         select e.domain, a.weight * sqrt(e.citations) / a.row_sum as share, a.weight as stake
         from citation_edge e join citing_agent a on a.agent = e.agent
         where e.agent = any($1) and a.weight > 0 and a.row_sum > 0
         union all
         select domain, -share, -stake from aggregated_before) both_sides
       group by domain)
     insert into source_trust (domain, mass, stake, updated_at)
     select domain, mass, stake, $2 from differences order by domain
     on conflict (domain) do update set mass = greatest(0, source_trust.mass + excluded.mass),
       stake = greatest(0, source_trust.stake + excluded.stake), updated_at = excluded.updated_at
     returning domain`,
    [agents, now],
  )
  return rows.map((row) => row.domain)
}

type Changed = { domain: string; score: number; authority: number; confidence: number | null }

/** The same formula as `authorityValue` and `roundScore`, so that ten thousand sources are one question. */
async function rescoreAuthority(
  deps: Pick<SourceDeps, 'clock' | 'jws'>,
  tx: Tx,
  domains: readonly string[],
): Promise<number> {
  const { rows } = await tx.query<Changed>(
    `with parts as (
       select p.domain, p.rest, p.gate, s.cite_score, s.confidence, t.stake / (t.stake + $5::double precision) as market,
         $2::double precision + (1 - $2) * $4::double precision * coalesce(p.external, 0) as base,
         $2 + (1 - $2) * case when t.mass > 0 then t.mass / (t.mass + coalesce((select mean_mass from trust_scale), 1)) else 0 end as trusted
       from score_parts p join source s on s.domain = p.domain join source_trust t on t.domain = p.domain
       where p.domain = any($1)),
     valued as (
       select *, base + market * greatest(0, trusted - base) as authority from parts)
     select domain, round((100 * ($3 * authority + rest) * gate)::numeric)::integer as score, authority, confidence
     from valued
     where round((100 * ($3 * authority + rest) * gate)::numeric)::integer <> cite_score`,
    [domains, authorityPrior, componentWeights.authority, rankListWorth, halfMarketStake],
  )
  if (rows.length > 0) await appendAuthorities(deps, tx, rows)
  return rows.length
}

type Document = { components: { id: string; value: number; known: number }[] }

/** Three questions however many scores changed: the newest rows, the new rows, the new values. */
async function appendAuthorities(
  deps: Pick<SourceDeps, 'clock' | 'jws'>,
  tx: Tx,
  changed: readonly Changed[],
): Promise<void> {
  const { rows } = await tx.query<PreviousScore & { domain: string }>(
    `select distinct on (domain) domain, seq, score, components, jws from source_score
     where domain = any($1) order by domain, seq desc`,
    [changed.map((row) => row.domain)],
  )
  const previous = new Map(rows.map((row) => [row.domain, row]))
  const nowMs = deps.clock.nowMs()
  const drafts = changed.flatMap((row) => {
    const before = previous.get(row.domain)
    if (!before) return []
    const document = before.components as unknown as Document
    const components = document.components.map((part) =>
      part.id === 'authority' ? { ...part, value: Math.round(row.authority * 10_000) / 10_000, known: 1 } : part,
    )
    const next = {
      score: row.score,
      confidence: row.confidence ?? 0,
      components: { ...document, components } as unknown as Json,
      modelVersion,
    }
    return [draftScore(deps.jws, row.domain, next, before, nowMs)]
  })
  await insertScores(tx, drafts)
  await tx.query(
    `update score_parts p set authority = g.authority
     from unnest($1::text[], $2::double precision[]) as g(domain, authority) where p.domain = g.domain`,
    [changed.map((row) => row.domain), changed.map((row) => row.authority)],
  )
}

/** Once a day: weights from current bonds and spending, all trust from the edges again, and the scores that follow from it. */
export async function reaggregateAll(
  deps: Pick<SourceDeps, 'database' | 'clock' | 'jws' | 'bonds' | 'spendingSql'>,
): Promise<number> {
  return deps.database.transaction(async (tx) => {
    const now = new Date(deps.clock.nowMs())
    await tx.query(`set local statement_timeout = '10min'`)
    // New citations wait, so that none is aggregated on top of a sum that already has it.
    await tx.query('lock table citing_agent in share row exclusive mode')
    await refreshWeights(tx, now, deps.bonds, deps.spendingSql)
    await reaggregateTrust(tx, now)
    const { rows } = await tx.query<{ domain: string }>('select domain from source_trust order by domain')
    return rescoreAuthority(
      deps,
      tx,
      rows.map((row) => row.domain),
    )
  })
}

/** Bonds come and go at any time: a weight follows within a minute, not at the end of the day. */
export async function followBonds(deps: Pick<SourceDeps, 'database' | 'clock' | 'jws' | 'bonds'>): Promise<boolean> {
  const { bonds } = deps
  if (!bonds) return false
  const changed = await deps.database.transaction((tx) => takeBonds(tx, new Date(deps.clock.nowMs()), bonds))
  if (changed > 0) await reaggregateAll(deps)
  return changed > 0
}

/** Everything from the edges again: ends the drift of many small differences, and sets the scale for the next day. */
export async function reaggregateTrust(sql: Tx, now: Date): Promise<void> {
  // Once a day over all edges: longer than any request may take.
  await sql.query(`set local statement_timeout = '10min'`)
  await sql.query(
    `with shares as (
       select e.domain, a.weight * sqrt(e.citations) / a.row_sum as share, a.weight as stake
       from citation_edge e join citing_agent a on a.agent = e.agent where a.weight > 0 and a.row_sum > 0),
     aggregated as (select domain, sum(share) as mass, sum(stake) as stake from shares group by domain),
     gone as (delete from source_trust t where not exists (select from aggregated f where f.domain = t.domain))
     insert into source_trust (domain, mass, stake, updated_at) select domain, mass, stake, $1 from aggregated
     on conflict (domain) do update set mass = excluded.mass, stake = excluded.stake, updated_at = excluded.updated_at`,
    [now],
  )
  await sql.query(
    `insert into trust_scale (mean_mass, aggregated_at)
     select avg(mass), $1 from source_trust where mass > 0 having avg(mass) > 0
     on conflict (only_one) do update set mean_mass = excluded.mean_mass, aggregated_at = excluded.aggregated_at`,
    [now],
  )
}
