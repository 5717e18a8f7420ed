import type { Tx } from '@assay/till/store/database'
import { reaggregateAll } from '../../sources/index.ts'
import type { FundingDeps } from './deps.ts'
import { readFundingView } from './material.ts'
import { clusterByFunding } from './trace-funding.ts'

type Agent = { agent: string; cluster: string; by_funding: boolean }
type Move = { agent: string; cluster: string }

/**
 * Makes one cluster of all wallets that live on the same money: they share one weight, and citations of their own pages
 * are removed from the books. Returns how many wallets changed their cluster.
 */
export async function applyClusters(deps: FundingDeps): Promise<number> {
  const { parties, shares } = await readFundingView(deps)
  const clusterOf = clusterByFunding(parties, shares, deps.settings.hops)
  const { moves, cut } = await deps.database.transaction(async (tx) => {
    const now = new Date(deps.clock.nowMs())
    await tx.query(
      `insert into citing_agent (agent, cluster, first_seen_at)
       select wallet, wallet, $2 from funding_wallet where network = $1 and hop = 0 on conflict do nothing`,
      [deps.chain.network.caip2, now],
    )
    // Citations wait, so that none of an own source is aggregated meanwhile.
    await tx.query('lock table citing_agent in share row exclusive mode')
    const { rows } = await tx.query<Agent>('select agent, cluster, by_funding from citing_agent order by agent')
    const wanted = movesOf(rows, clusterOf)
    await moveAgents(tx, wanted)
    return { moves: wanted.length, cut: await cutOwnCitations(tx) }
  })
  if (moves > 0 || cut > 0) await reaggregateAll(deps)
  return moves
}

/** Who stands for a cluster stays the same while it can: the wallet that already does, or else the first by name. */
export function movesOf(agents: readonly Agent[], clusterOf: (wallet: string) => string): Move[] {
  const clusters = new Map<string, Agent[]>()
  // A cluster that the operator set holds together, whatever the chain says.
  const nameOf = ({ agent, cluster, by_funding }: Agent) => clusterOf(by_funding ? agent : cluster)
  for (const one of agents) clusters.set(nameOf(one), [...(clusters.get(nameOf(one)) ?? []), one])
  return [...clusters.values()].flatMap((members) => {
    const heads = members.filter(({ agent, cluster }) => agent === cluster)
    const most = (agent: string) => members.filter(({ cluster }) => cluster === agent).length
    const head = [...heads].sort((a, b) => most(b.agent) - most(a.agent) || (a.agent < b.agent ? -1 : 1))[0]
    const cluster = (head ?? members[0])?.agent ?? ''
    return members.filter((one) => one.cluster !== cluster).map(({ agent }) => ({ agent, cluster }))
  })
}

async function moveAgents(tx: Tx, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return
  await tx.query(
    `update citing_agent a set cluster = t.cluster, by_funding = a.by_funding or a.cluster = a.agent
     from unnest($1::text[], $2::text[]) t (agent, cluster) where a.agent = t.agent`,
    [moves.map(({ agent }) => agent), moves.map(({ cluster }) => cluster)],
  )
}

/** Money that circulates within one cluster says nothing about a source. */
async function cutOwnCitations(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ agent: string }>(
    `delete from citation_edge e using source s, source_claim c, citing_agent a, citing_agent m
     where s.domain = e.domain and c.id = s.proven_claim and a.agent = c.wallet and m.cluster = a.cluster
       and m.agent = e.agent returning e.agent`,
  )
  if (rows.length > 0)
    await tx.query(
      `update citing_agent a set row_sum = coalesce(
         (select sum(sqrt(citations)) from citation_edge e where e.agent = a.agent), 0) where a.agent = any($1)`,
      [rows.map(({ agent }) => agent)],
    )
  return rows.length
}
