import { formatUsd } from '@assay/protocol/money'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { owedTo } from '@assay/till/ledger'
import { optionAccounts } from './accounts.ts'
import type { Board, BoardEntry } from './board.ts'
import { isTradable } from './book-sides.ts'
import { indexMethodName, type OptionDeps, settlementMethodName } from './deps.ts'
import { createOrderBook } from './domain/book.ts'
import { isListable, pointsText } from './follow-index.ts'
import { methodKey, methodNamed, methodTerms } from './index-method.ts'
import { modelOf } from './price-series.ts'
import { optionProblems } from './problems.ts'
import { isForSale } from './read-book.ts'
import { readIndex, volatilityOf } from './read-index.ts'
import { vaultOffer } from './reserve-contracts.ts'
import { findSeries, isTraded, type Series } from './series-store.ts'

export type MarketDeps = OptionDeps & { board: Board }

export function describeSeries(deps: MarketDeps, entry: BoardEntry) {
  const { series } = entry
  const traded = isTraded(series, deps.clock.nowMs())
  const ask = traded ? deps.board.askOf(entry, 1) : undefined
  return {
    symbol: series.symbol,
    cluster: series.cluster,
    kind: series.kind === 'C' ? 'call' : 'put',
    strike: series.strike,
    pays_up_to: series.width,
    size_micro: series.sizeMicro.toString(),
    most_micro: series.capMicro.toString(),
    last_trade_at: toRfc3339(series.lastTradeAtMs),
    expires_at: toRfc3339(series.expiresAtMs),
    state: series.state === 'trading' && !traded ? 'closed' : series.state,
    premium_micro: ask ? ask.totalMicro.toString() : null,
    premium_usd: ask ? formatUsd(ask.totalMicro) : null,
    buyable: ask !== undefined,
    ...describeModel(deps, series, ask?.totalMicro),
    ...(series.synthetic ? { synthetic: true } : {}),
  }
}

function describeModel(deps: MarketDeps, series: Series, premiumMicro: bigint | undefined) {
  const model = modelOf(deps, series, premiumMicro, deps.clock.nowMs())
  const implied = model?.impliedVolatility
  return {
    volatility: series.volatility,
    implied_volatility: implied === undefined ? null : Math.round(implied * 10_000) / 10_000,
    greeks: model
      ? {
          delta: six(model.greeks.delta),
          gamma: six(model.greeks.gamma),
          vega: six(model.greeks.vega),
          theta: six(model.greeks.theta),
        }
      : null,
  }
}

export async function listMarket(
  deps: MarketDeps,
  filter: { cluster?: string; kind?: 'call' | 'put'; buyable?: boolean; limit: number; after?: string },
) {
  const rows = [...(await deps.board.read()).values()]
    .filter(({ series }) => series.state === 'trading')
    .filter(({ series }) => filter.cluster === undefined || series.cluster === filter.cluster)
    .map((entry) => describeSeries(deps, entry))
    .filter((row) => filter.kind === undefined || row.kind === filter.kind)
    .filter((row) => filter.buyable !== true || row.buyable)
  const keyOf = (row: { expires_at: string; symbol: string }) => `${row.expires_at} ${row.symbol}`
  rows.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const rest = filter.after === undefined ? rows : rows.filter((row) => keyOf(row) > (filter.after as string))
  const page = rest.slice(0, filter.limit)
  const last = page.at(-1)
  return { data: page, next_cursor: rest.length > page.length && last ? keyOf(last) : null }
}

export async function describeOneSeries(deps: MarketDeps, symbol: string) {
  const entry = (await deps.board.read()).get(symbol) ?? (await endedEntry(deps, symbol))
  const { series } = entry
  const nowMs = deps.clock.nowMs()
  // What is priced is shown as it was priced: anybody can replay the price from the same ticks.
  const upToMs = isTraded(series, nowMs) ? series.pricedTick?.atMs : undefined
  const [index] = await readIndex(deps.database, series.method, deps.settings.volatilityTicks, series.cluster, upToMs)
  const ticks = index?.ticks ?? []
  const newest = ticks.at(-1)
  const collateralMicro = await owedTo(deps.database, optionAccounts.collateral(deps.network, symbol))
  return {
    ...describeSeries(deps, entry),
    index: newest ? pointsText(newest.valueE4) : null,
    index_at: newest ? toRfc3339(newest.atMs) : null,
    model_micro: series.modelMicro?.toString() ?? null,
    priced_at: toRfc3339(series.pricedAtMs),
    ...(await orderBookOf(deps, entry)),
    open_interest: series.sold,
    open_interest_micro_per_point: (BigInt(series.sold) * series.sizeMicro).toString(),
    side_limit_micro_per_point: series.interestLimitMicro.toString(),
    agent_cost_micro: deps.settings.agentMicro.toString(),
    collateral_micro: collateralMicro.toString(),
    history: ticks.map(({ atMs, valueE4, agents }) => ({ at: toRfc3339(atMs), index: pointsText(valueE4), agents })),
    settlement: series.state === 'trading' ? null : `/v1/options/settlements/${symbol}`,
    method: await methodOf(deps, series),
  }
}

async function orderBookOf(deps: MarketDeps, { series, book }: BoardEntry) {
  const vault = isTraded(series, deps.clock.nowMs())
    ? vaultOffer(deps, { quantity: deps.settings.quantityMax }, series, { vault: deps.board.vault() })
    : undefined
  return {
    book: book.depth(20).map(({ price, quantity, offers }) => ({ premium_micro: price.toString(), quantity, offers })),
    bids: await bidsOf(deps, series.symbol),
    resales: await resalesOf(deps, series.symbol),
    vault: vault ? { premium_micro: vault.price.toString(), quantity: vault.quantity } : null,
  }
}

/** Both sides of the book of a listed series; undefined for any other. */
export async function readOrderBook(deps: MarketDeps, symbol: string) {
  const entry = (await deps.board.read()).get(symbol)
  return entry && { symbol, ...(await orderBookOf(deps, entry)) }
}

async function bidsOf({ database }: OptionDeps, symbol: string) {
  const { rows } = await database.query<{ price_micro: bigint; quantity: bigint; orders: bigint }>(
    `select price_micro, sum(open_quantity)::bigint as quantity, count(*)::bigint as orders from option_bid o
     where symbol = $1 and ${isTradable} group by price_micro order by price_micro desc limit 20`,
    [symbol],
  )
  return rows.map(shownLevel)
}

const shownLevel = ({ price_micro, quantity, orders }: { price_micro: bigint; quantity: bigint; orders: bigint }) => ({
  premium_micro: price_micro.toString(),
  quantity: Number(quantity),
  orders: Number(orders),
})

async function resalesOf({ database }: OptionDeps, symbol: string) {
  const { rows } = await database.query<{ price_micro: bigint; quantity: bigint; orders: bigint }>(
    `select sell_micro as price_micro, sum(least(sell_quantity, quantity))::bigint as quantity, count(*)::bigint as orders
     from option_position o where symbol = $1 and ${isForSale} group by sell_micro order by sell_micro limit 20`,
    [symbol],
  )
  return rows.map(shownLevel)
}

const six = (value: number): number => Math.round(value * 1e6) / 1e6

async function methodOf({ settings, database }: OptionDeps, { method, cluster }: Series) {
  const { tickMs, halfLifeMs } = methodTerms(settings, method)
  const { decayPpb, lookback } = methodNamed(settings, method)
  const { rows } = await database.query<{ base_share_e12: bigint }>(
    `select base_share_e12 from option_cluster where cluster = $1`,
    [cluster],
  )
  return {
    index: indexMethodName,
    settlement: settlementMethodName,
    pricing: 'Black-76, zero rate, call capped as a spread',
    tick_ms: tickMs,
    half_life_ms: halfLifeMs,
    decay_ppb: decayPpb,
    lookback,
    base_share_e12: rows[0]?.base_share_e12.toString() ?? null,
    window_ms: settings.windowMs,
    agents_min: settings.agentsMin,
    extensions_max: settings.extensionsMax,
    time_scale: settings.timeScale,
    documentation: 'docs/options.md',
  }
}

async function endedEntry(deps: MarketDeps, symbol: string): Promise<BoardEntry> {
  const series: Series | undefined = await findSeries(deps.database, symbol)
  if (!series) throw new Problem(optionProblems.series_unknown)
  return { series, book: createOrderBook() }
}

export async function listClusters(deps: MarketDeps, page: { limit: number; after?: string }) {
  const { rows: bases } = await deps.database.query<{ cluster: string; base_share_e12: bigint; base_at: Date }>(
    `select cluster, base_share_e12, base_at from option_cluster`,
  )
  const baseOf = new Map(bases.map((row) => [row.cluster, row]))
  const listed = new Map<string, number>()
  let synthetic = false
  for (const { series } of (await deps.board.read()).values()) {
    if (series.state === 'trading') listed.set(series.cluster, (listed.get(series.cluster) ?? 0) + 1)
    synthetic ||= series.synthetic
  }
  const all = deps.demand
    .clusters()
    .filter(isListable)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .filter(({ id }) => page.after === undefined || id > page.after)
  const shown = all.slice(0, page.limit)
  const indexes = new Map(
    (await readIndex(deps.database, methodKey(deps.settings), deps.settings.volatilityTicks)).map((index) => [
      index.cluster,
      index,
    ]),
  )
  const data = shown.map(({ id, name, parentId, tier, source }) => {
    const index = indexes.get(id)
    const newest = index?.ticks.at(-1)
    const base = baseOf.get(id)
    return {
      cluster: id,
      name,
      parent: parentId,
      tier,
      source,
      index: newest ? pointsText(newest.valueE4) : null,
      index_at: newest ? toRfc3339(newest.atMs) : null,
      agents: newest?.agents ?? null,
      base_at: base ? toRfc3339(base.base_at.getTime()) : null,
      base_share_e12: base?.base_share_e12.toString() ?? null,
      volatility: index ? volatilityOf(deps.settings, index) : null,
      series: listed.get(id) ?? 0,
      ...(synthetic && newest ? { synthetic: true } : {}),
    }
  })
  return { data, next_cursor: all.length > shown.length ? (shown.at(-1)?.id ?? null) : null }
}
