import type { Address } from '@assay/protocol/address'
import type { FundingDeps } from './deps.ts'
import { entropyOf, type Flow, findCycles, pairKey } from './find-cycles.ts'
import { fundingClusters } from './funding-clusters.ts'

const atOnce = 1_000
const flowMs = 30 * 86_400_000
const flowsAgainMs = 300_000
const burstMs = 600_000
const burstCount = 20
const burstBits = 0.5

export type Sign = 'same_funding_cluster' | 'reciprocal' | 'burst'

type Cited = {
  id: string
  agent: Address
  payer: Address
  registrable: string
  wallets: Address[]
  created_at: Date
}

/** Who paid whom of late, among those that are paid too; read again every few minutes. */
export type FlowsSeen = { atMs: number; pairs: ReadonlySet<string>; cycles: ReadonlySet<string> }

/**
 * Checks citations again once their money is final, with what the chain says of their parties: those within one cluster,
 * in a circle of citers, or in a flood on one source are paid later and count for nothing. Returns how many were checked.
 */
export async function checkCitations(
  deps: FundingDeps,
  flows: FlowsSeen,
  upToMs: number,
): Promise<{ checked: number; washTraded: number }> {
  const cited = await takeUnchecked(deps, upToMs)
  if (cited.length === 0) return { checked: 0, washTraded: 0 }
  const wallets = cited.flatMap(({ agent, payer, wallets: paid }) => [agent, payer, ...paid])
  const clusters = await fundingClusters(deps.database, wallets)
  const cluster = (wallet: Address) => clusters.get(wallet) ?? wallet
  const flooded = await findFloods(deps, cited, cluster)
  const verdicts = cited.flatMap((one) =>
    (one.wallets.length > 0 ? one.wallets : [undefined]).map((wallet) => ({
      one,
      wallet,
      signs: [...signsOf(one, wallet, cluster, flows), ...(flooded.has(one.id) ? (['burst'] as const) : [])],
    })),
  )
  const washTraded = verdicts.filter(({ signs }) => signs.length > 0)
  await store(deps, cited, washTraded)
  return { checked: cited.length, washTraded: washTraded.length }
}

async function takeUnchecked({ database }: FundingDeps, upToMs: number): Promise<Cited[]> {
  const { rows } = await database.query<Cited>(
    `select a.id, a.agent, a.payer, a.registrable, a.created_at,
       array(select distinct c.wallet from creator_accrual c where c.subject = a.id and c.wallet is not null) as wallets
     from attestation a
     where a.checked_at is null and a.created_at <= $1
       and coalesce((select p.final and p.state = 'served' from payment p where p.id = a.payment_id), true)
     order by a.created_at limit $2`,
    [new Date(upToMs), atOnce],
  )
  return rows
}

function signsOf(
  { agent, payer }: Cited,
  wallet: Address | undefined,
  cluster: (wallet: Address) => string,
  { pairs, cycles }: FlowsSeen,
): Sign[] {
  // Anyone who names himself was seen when it was stamped.
  if (wallet === undefined || wallet === agent || wallet === payer) return []
  const creator = cluster(wallet)
  const sides = [...new Set([cluster(agent), cluster(payer)])]
  if (sides.includes(creator)) return ['same_funding_cluster']
  return sides.some((side) => pairs.has(pairKey(creator, side)) || cycles.has(pairKey(side, creator)))
    ? ['reciprocal']
    : []
}

export async function seeFlows({ database, clock }: FundingDeps, before: FlowsSeen | undefined): Promise<FlowsSeen> {
  const nowMs = clock.nowMs()
  if (before && nowMs - before.atMs < flowsAgainMs) return before
  const { rows } = await database.query<Flow>(
    `with creators as (
       select distinct a.cluster from source_claim c join citing_agent a on a.agent = c.wallet where c.state = 'proven')
     select p.cluster as payer, r.cluster as creator, count(*)::int as citations
     from citing_agent p join attestation a on a.payer = p.agent join citing_agent r on r.agent = a.creator
     where p.cluster in (select cluster from creators) and a.created_at > $1
     group by p.cluster, r.cluster`,
    [new Date(nowMs - flowMs)],
  )
  const others = rows.filter(({ payer, creator }) => payer !== creator)
  return {
    atMs: nowMs,
    pairs: new Set(others.map(({ payer, creator }) => pairKey(payer, creator))),
    cycles: findCycles(others),
  }
}

type Recent = { agent: Address; registrable: string; created_at: Date }

/** Citations of a cluster that come in a flood with almost no variety; many wallets of it are one. */
async function findFloods(
  { database }: FundingDeps,
  cited: readonly Cited[],
  cluster: (wallet: Address) => string,
): Promise<Set<string>> {
  const times = cited.map(({ created_at }) => created_at.getTime())
  const { rows } = await database.query<Recent>(
    `select agent, registrable, created_at from attestation
     where agent in (select m.agent from citing_agent a join citing_agent m on m.cluster = a.cluster where a.agent = any($1))
       and created_at > $2 and created_at <= $3 order by created_at desc limit 50000`,
    [
      [...new Set(cited.map(({ agent }) => agent))],
      new Date(Math.min(...times) - burstMs),
      new Date(Math.max(...times)),
    ],
  )
  const clusters = await fundingClusters(database, [...new Set(rows.map(({ agent }) => agent))])
  const byCluster = new Map<string, Recent[]>()
  for (const row of rows) {
    const name = clusters.get(row.agent) ?? row.agent
    byCluster.set(name, [...(byCluster.get(name) ?? []), row])
  }
  return new Set(
    cited.filter((one) => isFlood(byCluster.get(cluster(one.agent)) ?? [], one.created_at)).map(({ id }) => id),
  )
}

/** The newest citations up to a moment, within the window: more than a few, and nearly all of one domain. */
export function isFlood(recent: readonly { registrable: string; created_at: Date }[], at: Date): boolean {
  const until = at.getTime()
  const counts = new Map<string, number>()
  for (const { registrable, created_at } of recent) {
    const time = created_at.getTime()
    if (time <= until && time > until - burstMs) counts.set(registrable, (counts.get(registrable) ?? 0) + 1)
  }
  const values = [...counts.values()]
  return values.reduce((sum, count) => sum + count, 0) > burstCount && entropyOf(values) < burstBits
}

type Verdict = { one: Cited; wallet: Address | undefined; signs: readonly Sign[] }

async function store(
  { database, clock, settings }: FundingDeps,
  cited: readonly Cited[],
  washTraded: readonly Verdict[],
) {
  await database.transaction(async (tx) => {
    for (const { one, wallet, signs } of washTraded) {
      await tx.query(
        'update attestation set wash = array(select distinct w from unnest(wash || $2::text[]) w order by w) where id = $1',
        [one.id, signs],
      )
      await tx.query(
        `update creator_accrual
         set held_until = greatest(held_until, coalesce(released_at, $3) + $5::bigint * interval '1 millisecond'),
           held_reason = concat_ws(', ', held_reason, nullif(array_to_string(array(
             select s from unnest($4::text[]) s where coalesce(held_reason, '') not like '%' || s || '%'), ', '), ''))
         where subject = $1 and wallet is not distinct from $2 and state = 'accrued'`,
        [one.id, wallet ?? null, one.created_at, signs, settings.challengeMs],
      )
    }
    await tx.query('update attestation set checked_at = $2 where id = any($1)', [
      cited.map(({ id }) => id),
      new Date(clock.nowMs()),
    ])
  })
}
