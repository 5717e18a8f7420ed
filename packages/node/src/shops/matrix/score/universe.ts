import type { World } from '../as-of/as-of-view.ts'
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
  world: World,
  universe: UniverseId,
  shortInterestToShares: Float64Array | undefined,
  present?: Uint8Array,
): { takesPart: Uint8Array; excluded: Map<number, Exclusion> } {
  const takesPart = new Uint8Array(world.symbols.length)
  const excluded = new Map<number, Exclusion>()
  for (let i = 0; i < takesPart.length; i += 1) {
    if (present && present[i] !== 1) continue
    const reason =
      kindExclusion(world, universe, i) ??
      ((shortInterestToShares?.[i] ?? 0) > shortInterestRatioMax * 100 ? 'data_fault' : undefined)
    if (reason === undefined) takesPart[i] = 1
    else excluded.set(i, reason)
  }
  return { takesPart, excluded }
}

function kindExclusion(world: World, universe: UniverseId, symbol: number): Exclusion | undefined {
  const kind = world.kinds[symbol] ?? 'share'
  if (universe === 'funds') return kind === 'etf' ? undefined : kind === 'share' || kind === 'adr' ? 'not_etf' : kind
  if (kind !== 'share' && kind !== 'adr') return kind
  return universe === 'listed_shares' && world.listed[symbol] !== 1 ? 'not_listed' : undefined
}
