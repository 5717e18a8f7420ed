import type { OptionDeps } from './deps.ts'
import { indexMethod } from './domain/demand-index.ts'
import { nextExpiries } from './domain/expiries.ts'
import { interestPerSide } from './domain/open-interest.ts'
import { planSeries, type SeriesPlan } from './domain/plan-series.ts'
import { methodKey } from './index-method.ts'
import { type ClusterIndex, createIndexReader, volatilityOf, yearsUntil } from './read-index.ts'
import { writeEvents } from './series-store.ts'
import type { OptionSettings } from './settings.ts'

/** Lists what is missing for the next expiries, on the topics with the largest crowds. */
export async function listSeries(
  deps: OptionDeps,
  readIndexes = createIndexReader(deps.database, deps.settings.volatilityTicks),
): Promise<number> {
  const nowMs = deps.clock.nowMs()
  const indexes = await readIndexes(methodKey(deps.settings))
  const plans = planListings(deps.settings, indexes, nowMs)
  return insertSeries(deps, plans, nowMs)
}

/** Everything that could be listed now; pure, so that it can be measured and tested for hundreds of topics. */
export function planListings(settings: OptionSettings, indexes: readonly ClusterIndex[], nowMs: number): SeriesPlan[] {
  const crowds = indexes
    .map((index) => ({ index, agents: crowdOf(index, settings) }))
    .filter(({ agents }) => agents > 0)
    .sort((a, b) => b.agents - a.agents || (a.index.cluster < b.index.cluster ? -1 : 1))
    .slice(0, settings.clustersMax)
  const expiries = nextExpiries(settings.expiries, nowMs).filter((at) => at - settings.cutoffMs > nowMs)
  const plans: SeriesPlan[] = []
  for (const { index, agents } of crowds) {
    const newest = index.ticks.at(-1)
    if (!newest) continue
    const volatility = volatilityOf(settings, index)
    const openInterestMicro = interestLimit(settings, index, agents)
    for (const expiresAtMs of expiries)
      plans.push(
        ...planSeries({
          cluster: index.cluster,
          indexE4: newest.valueE4,
          volatility,
          expiresAtMs,
          years: yearsUntil(settings, expiresAtMs, nowMs),
          strikesAround: settings.strikesAround,
          targetMicro: settings.targetMicro,
          openInterestMicro,
        }),
      )
  }
  return plans
}

type CrowdRules = Pick<OptionSettings, 'windowMs' | 'tickMs' | 'halfLifeMs' | 'agentsMin' | 'publishedShare'>

/**
 * The smallest number of agents in any tick that a settlement would look back on; 0 if too few of these ticks reached
 * `agentsMin`. A topic is cheapest to move where it is quiet.
 */
export function crowdOf({ ticks }: ClusterIndex, settings: CrowdRules): number {
  const { lookback } = indexMethod(settings.tickMs, settings.halfLifeMs)
  const wanted = Math.ceil(settings.windowMs / settings.tickMs) + lookback
  const recent = ticks.slice(-wanted).map(({ agents }) => agents ?? 0)
  const enough = recent.filter((agents) => agents >= settings.agentsMin)
  return enough.length === 0 || enough.length < recent.length * settings.publishedShare ? 0 : Math.min(...enough)
}

export function interestLimit(
  { agentMicro, clustersMax }: Pick<OptionSettings, 'agentMicro' | 'clustersMax'>,
  { ticks }: ClusterIndex,
  agents: number,
): bigint {
  const newest = ticks.at(-1)
  if (!newest || agents === 0) return 0n
  const crowd = { agents, share: newest.shareE12 / 1e12, indexE4: newest.valueE4 }
  return interestPerSide(crowd, agentMicro, clustersMax)
}

async function insertSeries(deps: OptionDeps, plans: readonly SeriesPlan[], nowMs: number): Promise<number> {
  if (plans.length === 0) return 0
  const { settings, database } = deps
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ symbol: string }>(
      `insert into option_series (symbol, cluster, kind, strike, width, size_micro, cap_micro, listed_at, last_trade_at, expires_at,
         state, interest_limit_micro, volatility, priced_at, synthetic, window_ms, agents_min, extensions_max, method)
       select symbol, cluster, kind, strike, width, size, cap, $1, expires - $2 * interval '1 millisecond', expires, 'trading', interest,
         volatility, $1, coalesce((select synthetic from option_input i where i.cluster = d.cluster order by ends_at desc limit 1), false),
         $13::bigint, $14::integer, $15::integer, $16
       from unnest($3::text[], $4::text[], $5::text[], $6::integer[], $7::integer[], $8::bigint[], $9::bigint[], $10::timestamptz[],
         $11::bigint[], $12::double precision[]) d (symbol, cluster, kind, strike, width, size, cap, expires, interest, volatility)
       on conflict do nothing returning symbol`,
      [
        new Date(nowMs),
        settings.cutoffMs,
        plans.map(({ symbol }) => symbol),
        plans.map(({ cluster }) => cluster),
        plans.map(({ kind }) => kind),
        plans.map(({ strike }) => strike),
        plans.map(({ width }) => width),
        plans.map(({ sizeMicro }) => sizeMicro),
        plans.map(({ capMicro }) => capMicro),
        plans.map(({ expiresAtMs }) => new Date(expiresAtMs)),
        plans.map(({ openInterestMicro }) => openInterestMicro),
        plans.map(({ volatility }) => volatility),
        settings.windowMs,
        settings.agentsMin,
        settings.extensionsMax,
        methodKey(settings),
      ],
    )
    await writeEvents(
      tx,
      rows.map(({ symbol }) => ({ symbol, kind: 'listed' as const, subject: symbol })),
      nowMs,
    )
    return rows.length
  })
}
