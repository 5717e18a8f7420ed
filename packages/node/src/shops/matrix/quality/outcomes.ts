import type { AsOfView } from '../as-of/as-of-view.ts'
import type { AsOfDeps } from '../as-of/load-view.ts'
import { testDefinition } from './test-definition.ts'

/** Closes by day, for evaluation afterwards only: predictions never see this. */
export type LaterPrices = {
  days: readonly number[]
  idOf(symbol: string): number | undefined
  closeOf(id: number, dayIndex: number): number
}

export async function loadLaterPrices(deps: AsOfDeps): Promise<LaterPrices> {
  await deps.symbols.refresh(deps.sql)
  // By the number of a symbol: 120 maps of 12,000 names would take a tenth of a gigabyte.
  const size = deps.symbols.last() + 1
  const byDay = new Map<number, Float64Array>()
  for (const file of deps.fileCache.known('prices', Number.MAX_SAFE_INTEGER)) {
    const rows = await deps.fileCache.rows(deps.sql, 'prices', file)
    for (let i = 0; i < rows.count; i += 1) {
      const day = rows.days[i] as number
      let closes = byDay.get(day)
      if (!closes) {
        closes = new Float64Array(size).fill(Number.NaN)
        byDay.set(day, closes)
      }
      const id = rows.ids[i] as number
      if (Number.isNaN(closes[id] as number)) closes[id] = (rows.numbers.close as Float64Array)[i] as number
    }
  }
  const days = [...byDay.keys()].sort((a, b) => a - b)
  const closes = days.map((day) => byDay.get(day) as Float64Array)
  return {
    days,
    idOf: (symbol) => deps.symbols.idOf(symbol),
    closeOf: (id, index) => closes[index]?.[id] ?? Number.NaN,
  }
}

/** Whether a squeeze followed, or undefined where the prices do not tell. `from` is the last close known then. */
export function outcomeOf(prices: LaterPrices, name: string, from: number): boolean | undefined {
  const symbol = prices.idOf(name)
  if (symbol === undefined) return undefined
  const start = prices.closeOf(symbol, from)
  const sigma = deviation(prices, symbol, from)
  if (!(start > 0) || sigma === undefined) return undefined
  const needed = Math.max(
    testDefinition.rise_min,
    testDefinition.sigma_multiple * sigma * Math.sqrt(testDefinition.horizon_days),
  )
  let seen = 0
  for (let ahead = 1; ahead <= testDefinition.horizon_days; ahead += 1) {
    const close = prices.closeOf(symbol, from + ahead)
    if (Number.isNaN(close)) continue
    seen += 1
    if (close / start - 1 > needed) return true
  }
  // A stock that stopped trading half way has no known outcome.
  return seen >= testDefinition.horizon_days / 2 ? false : undefined
}

const returnsMin = 20

function deviation(prices: LaterPrices, symbol: number, upTo: number): number | undefined {
  let count = 0
  let sum = 0
  let squares = 0
  for (let at = Math.max(1, upTo - testDefinition.sigma_days + 1); at <= upTo; at += 1) {
    const change = prices.closeOf(symbol, at) / prices.closeOf(symbol, at - 1) - 1
    if (!Number.isFinite(change)) continue
    count += 1
    sum += change
    squares += change * change
  }
  return count < returnsMin ? undefined : Math.sqrt(Math.max(0, (squares - (sum * sum) / count) / (count - 1)))
}

export class LookAhead extends Error {
  override readonly name = 'LookAhead'
}

/** An evaluation that saw the future is worth nothing: better none at all. */
export function refuseLookAhead(view: AsOfView, beforeMs: number): void {
  for (const origin of view.origins)
    if (origin.availableAtMs >= beforeMs)
      throw new LookAhead(
        `${origin.file} became public at ${new Date(origin.availableAtMs).toISOString()}, after the moment evaluated`,
      )
}
