import type { Micro } from '@assay/protocol/money'
import { type AnyTier, periodMs } from './policy.ts'

/** One period that was bought, with both prices of that moment. */
export type Purchase = { tier: AnyTier; boughtAtMs: number; standardMicro: Micro; vipMicro: Micro }

export type Term = { tier: AnyTier; fromMs: number; untilMs: number }

/**
 * What purchases add up to, oldest first. Folding from the beginning makes taking one back the same as its never having
 * been bought.
 */
export function foldPeriods(purchases: readonly Purchase[]): Term | undefined {
  return purchases.reduce<Term | undefined>(addPurchase, undefined)
}

function addPurchase(term: Term | undefined, purchase: Purchase): Term {
  const { tier, boughtAtMs } = purchase
  const leftMs = term === undefined ? 0 : Math.max(0, term.untilMs - boughtAtMs)
  if (term === undefined || leftMs === 0) return { tier, fromMs: boughtAtMs, untilMs: boughtAtMs + periodMs }
  if (term.tier === tier) return { ...term, untilMs: term.untilMs + periodMs }
  // A higher tier begins at once, and the value of what was left buys time in it. A lower one bought during a higher
  // is worth its price in time of the higher: nothing that was paid for is lost.
  if (tier === 'vip') return { tier, fromMs: boughtAtMs, untilMs: boughtAtMs + periodMs + inVipTime(leftMs, purchase) }
  return { ...term, untilMs: term.untilMs + inVipTime(periodMs, purchase) }
}

/** Rounded down to a millisecond. */
function inVipTime(standardMs: number, { standardMicro, vipMicro }: Purchase): number {
  return Number((BigInt(standardMs) * standardMicro) / vipMicro)
}
