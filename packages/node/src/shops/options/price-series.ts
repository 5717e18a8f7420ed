import type { Micro } from '@assay/protocol/money'
import { lockSpare } from '@assay/till/payouts'
import type { OptionDeps } from './deps.ts'
import { type CappedInput, cappedValue, type Greeks } from './domain/black76.ts'
import { isInBand, premiumOf } from './domain/contract-terms.ts'
import { impliedVolatility } from './domain/implied-volatility.ts'
import { methodTerms } from './index-method.ts'
import { crowdOf, interestLimit } from './list-series.ts'
import { type ClusterIndex, createIndexReader, volatilityOf, yearsUntil } from './read-index.ts'
import { isTraded, openSeries, type Series } from './series-store.ts'

export type Priced = {
  symbol: string
  modelMicro: Micro | null
  volatility: number
  interestMicro: Micro
  tick: ClusterIndex['ticks'][number] | undefined
}

/** Prices every open series again and renews its limits; what left the premium band is written by nobody but a person. */
export async function priceSeries(
  deps: OptionDeps,
  readIndexes = createIndexReader(deps.database, deps.settings.volatilityTicks),
): Promise<number> {
  const { database, settings, clock } = deps
  const nowMs = clock.nowMs()
  const series = (await openSeries(database)).filter((one) => isTraded(one, nowMs))
  if (series.length === 0) return 0
  const indexes = new Map<string, Estimated>()
  for (const method of new Set(series.map((one) => one.method))) {
    const terms = { ...settings, ...methodTerms(settings, method) }
    for (const index of await readIndexes(method))
      indexes.set(`${method} ${index.cluster}`, { ...index, ...estimate(terms, index) })
  }
  const priced = series.flatMap((one) => {
    const index = indexes.get(`${one.method} ${one.cluster}`)
    return index ? [priceOne(deps, one, index, nowMs)] : []
  })
  await renewVault(deps)
  if (priced.length === 0) return 0
  await database.query(
    `update option_series s set model_micro = d.model, volatility = d.volatility, interest_limit_micro = d.interest, priced_at = $1,
       priced_tick_at = d.tick_at, priced_index_e4 = d.index_e4
     from unnest($2::text[], $3::bigint[], $4::double precision[], $5::bigint[], $6::timestamptz[], $7::bigint[])
       d (symbol, model, volatility, interest, tick_at, index_e4)
     where s.symbol = d.symbol and s.state = 'trading'`,
    [
      new Date(nowMs),
      priced.map(({ symbol }) => symbol),
      priced.map(({ modelMicro }) => modelMicro),
      priced.map(({ volatility }) => volatility),
      priced.map(({ interestMicro }) => interestMicro),
      priced.map(({ tick }) => (tick ? new Date(tick.atMs) : null)),
      priced.map(({ tick }) => tick?.valueE4 ?? null),
    ],
  )
  return priced.length
}

type Estimated = ClusterIndex & { volatility: number; agents: number; interestMicro: Micro }

/** What is the same for every series of an index. */
function estimate(settings: OptionDeps['settings'], index: ClusterIndex): Omit<Estimated, keyof ClusterIndex> {
  const agents = crowdOf(index, settings)
  return { agents, volatility: volatilityOf(settings, index), interestMicro: interestLimit(settings, index, agents) }
}

function priceOne(deps: OptionDeps, series: Series, index: Estimated, nowMs: number): Priced {
  const { volatility, agents, interestMicro } = index
  const { price } = valueSeries(deps, series, index, volatility, nowMs)
  const premiumMicro = premiumOf(price, series.sizeMicro)
  // Without a crowd behind the index nothing new is promised on it.
  const writable = agents > 0 && isInBand(premiumMicro) && premiumMicro < series.capMicro
  return {
    symbol: series.symbol,
    modelMicro: writable ? premiumMicro : null,
    volatility,
    interestMicro,
    tick: index.ticks.at(-1),
  }
}

export function valueSeries(
  { settings }: Pick<OptionDeps, 'settings'>,
  series: Pick<Series, 'kind' | 'strike' | 'width' | 'expiresAtMs'>,
  index: { ticks: readonly { valueE4: bigint }[] },
  volatility: number,
  nowMs: number,
) {
  return cappedValue(modelInput(settings, series, { valueE4: index.ticks.at(-1)?.valueE4 ?? 0n, volatility, nowMs }))
}

type At = { valueE4: bigint; volatility: number; nowMs: number }

const modelInput = (
  settings: OptionDeps['settings'],
  series: Pick<Series, 'kind' | 'strike' | 'width' | 'expiresAtMs'>,
  { valueE4, volatility, nowMs }: At,
): CappedInput => ({
  kind: series.kind,
  forward: Number(valueE4) / 10_000,
  strike: series.strike,
  width: series.width,
  volatility,
  years: yearsUntil(settings, series.expiresAtMs, nowMs),
})

export type ModelView = { greeks: Greeks; impliedVolatility: number | undefined }

/** Greeks at the index of the last pricing, and the volatility that this premium of one contract implies there. */
export function modelOf(
  { settings }: Pick<OptionDeps, 'settings'>,
  series: Series,
  premiumMicro: Micro | undefined,
  nowMs: number,
): ModelView | undefined {
  if (!series.pricedTick) return undefined
  const { valueE4 } = series.pricedTick
  const input = modelInput(settings, series, { valueE4, volatility: series.volatility, nowMs })
  const { price: _price, ...greeks } = cappedValue(input)
  return {
    greeks,
    impliedVolatility:
      premiumMicro === undefined
        ? undefined
        : impliedVolatility(Number(premiumMicro) / Number(series.sizeMicro), input),
  }
}

/** The vault promises no more than its limit, and no more than the custody wallet holds beyond everybody's money. */
export async function renewVault(deps: OptionDeps): Promise<void> {
  const { settings, database } = deps
  if (settings.vaultMicro === 0n) {
    await database.query(`update option_vault set limit_micro = 0 where limit_micro <> 0`)
    return
  }
  const spare = await deps.unreservedCustody?.()
  await database.transaction(async (tx) => {
    // What is promised here is not withdrawn at the same time.
    await lockSpare(tx, deps.network)
    await tx.query(
      `update option_vault set limit_micro = least($1::bigint, greatest(0, $2::bigint + (
         select coalesce(sum(vault_micro), 0)::bigint from option_position where state = 'open')))`,
      [settings.vaultMicro, (await spare?.(tx)) ?? 0n],
    )
  })
}
