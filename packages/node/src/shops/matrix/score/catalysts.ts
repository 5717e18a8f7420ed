import type { AsOfView } from '../as-of/as-of-view.ts'
import { catalystPoints, catalystPointsMax, pauseDaysMax } from './method.ts'

const pauseReasons = new Set(['LUDP', 'LUDS', 'M'])

export type Catalysts = { points: Float64Array; reasons: Map<number, string[]> }

/** Signs that something has started: a volatility pause in a rising stock, a fresh entry on a threshold list. Capped. */
export function findCatalysts(view: AsOfView, columns: AsOfView['columns'], haltsAllowed: boolean): Catalysts {
  const points = new Float64Array(view.symbols.length)
  const reasons = new Map<number, string[]>()
  const add = (symbol: number, reason: keyof typeof catalystPoints) => {
    const known = reasons.get(symbol) ?? []
    if (known.includes(reason)) return
    reasons.set(symbol, [...known, reason])
    points[symbol] = Math.min(catalystPointsMax, (points[symbol] as number) + catalystPoints[reason])
  }
  const rising = columns.return_5d_pct?.values
  const since = view.knownAtMs - pauseDaysMax * 86_400_000
  if (haltsAllowed)
    // The feed does not say in which direction a pause was: without a price that is unknown and counts nothing.
    for (const halt of view.halts)
      if (pauseReasons.has(halt.reason) && halt.haltedAtMs >= since && rising && (rising[halt.symbol] as number) > 0)
        add(halt.symbol, 'volatility_pause_up')
  const entered = columns.threshold_entered?.values
  if (entered) for (let i = 0; i < entered.length; i += 1) if (entered[i] === 1) add(i, 'threshold_entry')
  return { points, reasons }
}
