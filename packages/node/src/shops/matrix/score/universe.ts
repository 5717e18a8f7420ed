import type { AsOfView } from '../as-of/as-of-view.ts'
import { shortInterestRatioMax } from './method.ts'

export type UniverseId = 'shares' | 'listed_shares' | 'funds'

/** Why a symbol is not ranked. */
export type Exclusion =
  | 'etf'
  | 'preferred'
  | 'warrant'
  | 'unit'
  | 'right'
  | 'note'
  | 'fund'
  | 'test'
  | 'not_etf'
  | 'not_listed'
  | 'data_fault'
  | 'too_little_known'

/**
 * Who takes part in a ranking, and why the others do not. A symbol that is not `present`, because only files that have
 * nothing to do with this ranking name it, is neither in nor out of it.
 */
export function chooseUniverse(
  view: AsOfView,
  universe: UniverseId,
  shortInterestToShares: Float64Array | undefined,
  present?: Uint8Array,
): { included: Uint8Array; excluded: Map<number, Exclusion> } {
  const included = new Uint8Array(view.symbols.length)
  const excluded = new Map<number, Exclusion>()
  for (let i = 0; i < included.length; i += 1) {
    if (present && present[i] !== 1) continue
    const reason =
      kindExclusion(view, universe, i) ??
      ((shortInterestToShares?.[i] ?? 0) > shortInterestRatioMax * 100 ? 'data_fault' : undefined)
    if (reason === undefined) included[i] = 1
    else excluded.set(i, reason)
  }
  return { included, excluded }
}

function kindExclusion(view: AsOfView, universe: UniverseId, symbol: number): Exclusion | undefined {
  const kind = view.kinds[symbol] ?? 'share'
  if (universe === 'funds') return kind === 'etf' ? undefined : kind === 'share' || kind === 'adr' ? 'not_etf' : kind
  if (kind !== 'share' && kind !== 'adr') return kind
  return universe === 'listed_shares' && view.listed[symbol] !== 1 ? 'not_listed' : undefined
}
