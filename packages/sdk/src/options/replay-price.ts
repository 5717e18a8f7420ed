import type { AssayClient } from '../client.ts'
import { type OptionSeriesDetail, readOptionSeries } from './options.ts'
import { readOptionInputs } from './replay.ts'
import { indexAt, type OptionInput, pointsText } from './replay-index.ts'

type Fetching = Pick<AssayClient, 'fetch'>

export type PriceReplay = {
  symbol: string
  index: string | null
  volatility: number
  /** Of one contract. Null where the model has no price within the premium band, and then nothing is compared. */
  model_micro: string | null
  /** Every way in which the node's figures differ from what its public data give; empty when they agree. */
  differences: string[]
  /** Ticks of the index that were computed again, and published figures they were computed from. */
  ticks: number
  inputs: number
}

/** Computes index, volatility and price of a traded series again from public data and compares. */
export async function replayOptionPrice(client: Fetching, node: string, symbol: string): Promise<PriceReplay> {
  const series = await readOptionSeries(client, node, symbol)
  const [first, last] = [series.history[0], series.history.at(-1)]
  if (!first || !last) return replayPrice(series, [])
  const { tick_ms, lookback } = series.method
  const after = new Date(Date.parse(first.at) - lookback * tick_ms).toISOString()
  return replayPrice(series, await readOptionInputs(client, node, { after, upTo: last.at }))
}

/** The same without a node: for anyone who keeps the documents. */
export function replayPrice(series: OptionSeriesDetail, inputs: readonly OptionInput[]): PriceReplay {
  const differences: string[] = []
  const compare = (what: string, theirs: unknown, ours: unknown) => {
    if (theirs !== ours) differences.push(`${what}: the node says ${String(theirs)}, its inputs give ${String(ours)}`)
  }
  const { base_share_e12 } = series.method
  if (base_share_e12 !== null)
    for (const { at, index, agents } of series.history) {
      const point = indexAt({ ...series.method, base_share_e12, cluster: series.cluster }, inputs, Date.parse(at))
      compare(`index at ${at}`, index, point ? pointsText(point.value) : null)
      compare(`agents at ${at}`, agents, point?.agents ?? null)
    }
  // Whole ten-thousandths, so that every implementation divides the same numbers.
  const values = series.history.map(({ index }) => Number(index.replace('.', '')))
  const volatility = volatilityOf(values, yearMs / (series.method.tick_ms * series.method.time_scale))
  compare('volatility', series.volatility, volatility)
  const modelMicro =
    series.model_micro === null ? null : contractPrice(series, (values.at(-1) ?? 0) / 10_000, volatility)
  // The last digits of a normal distribution may round up at another micro-USDC.
  const apart = modelMicro === null ? 0n : modelMicro - BigInt(series.model_micro ?? 0)
  if (apart < -1n || apart > 1n) compare('model_micro', series.model_micro, String(modelMicro))
  return {
    symbol: series.symbol,
    index: series.index,
    volatility,
    model_micro: modelMicro?.toString() ?? null,
    differences,
    ticks: series.history.length,
    inputs: inputs.length,
  }
}

const yearMs = 365.25 * 86_400_000

function volatilityOf(values: readonly number[], stepsPerYear: number): number {
  let variance: number | undefined
  for (const [at, value] of values.entries()) {
    const before = values[at - 1]
    if (before === undefined || before <= 0 || value <= 0) continue
    const change = Math.log(value / before) ** 2
    variance = variance === undefined ? change : 0.97 * variance + 0.03 * change
  }
  const yearly = Math.sqrt((variance ?? 0) * stepsPerYear) * 1.1
  return Math.round(Math.min(Math.max(yearly, 0.3), 3) * 10_000) / 10_000
}

function contractPrice(series: OptionSeriesDetail, forward: number, volatility: number): bigint {
  const leftMs = Date.parse(series.expires_at) - Date.parse(series.priced_at)
  const deviation = volatility * Math.sqrt(Math.max(0, (leftMs * series.method.time_scale) / yearMs))
  const vanilla = (strike: number, sign: 1 | -1): number => {
    if (deviation === 0 || forward <= 0) return Math.max(sign * (forward - strike), 0)
    const d1 = Math.log(forward / strike) / deviation + deviation / 2
    return sign * (forward * normalCdf(sign * d1) - strike * normalCdf(sign * (d1 - deviation)))
  }
  const call = () => vanilla(series.strike, 1) - vanilla(series.strike + series.pays_up_to, 1)
  const point = series.kind === 'put' ? vanilla(series.strike, -1) : call()
  return BigInt(Math.ceil(Math.max(point, 0) * Number(series.size_micro)))
}

/** By the series that has no cancellation: x + x³/3 + x⁵/(3·5) + … */
function normalCdf(x: number): number {
  if (Math.abs(x) > 8) return x > 0 ? 1 : 0
  let [sum, term] = [x, x]
  for (let n = 3; Math.abs(term) > 1e-18 * Math.abs(sum); n += 2) {
    term *= (x * x) / n
    sum += term
  }
  return 0.5 + (sum * Math.exp(-0.5 * x * x)) / Math.sqrt(2 * Math.PI)
}
