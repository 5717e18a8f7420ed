import type { Micro } from '@assay/protocol/money'
import { type AnyTier, periodMs } from './policy.ts'

/** One period that was bought, with both prices of that moment. */
export type Purchase = { tier: AnyTier; boughtAtMs: number; standardMicro: Micro; vipMicro: Micro }

/** A time in which `down` of the `of` parts of what is covered could not be had. */
export type Outage = { beganMs: number; endedMs: number; down: number; of: number }

export type Term = {
  tier: AnyTier
  fromMs: number
  untilMs: number
  /** Time given back for outages; contained in `untilMs`. */
  extendedMs: number
}

/**
 * What purchases add up to, oldest first, with the time of outages given back in proportion to what was down. Folding
 * from the beginning makes taking a purchase back the same as its never having been bought.
 */
export function foldPeriods(purchases: readonly Purchase[], outages: readonly Outage[] = []): Term | undefined {
  const times = purchases.map(({ boughtAtMs }) => boughtAtMs)
  const pieces = outages.flatMap((outage) => splitAt(outage, times)).sort((a, b) => a.beganMs - b.beganMs)
  let term: Term | undefined
  for (const purchase of purchases) {
    while (pieces[0] && pieces[0].endedMs <= purchase.boughtAtMs) term = giveBack(term, pieces.shift() as Outage)
    term = addPurchase(term, purchase)
  }
  return pieces.reduce(giveBack, term)
}

/** So that no purchase falls inside a piece. */
function splitAt(outage: Outage, times: readonly number[]): Outage[] {
  const cuts = times.filter((ms) => ms > outage.beganMs && ms < outage.endedMs)
  const edges = [...new Set([outage.beganMs, ...cuts, outage.endedMs])].sort((a, b) => a - b)
  return edges.slice(1).map((endedMs, index) => ({ ...outage, beganMs: edges[index] as number, endedMs }))
}

/** While a part is down, time passes only in proportion to what is up. */
function giveBack(term: Term | undefined, { beganMs, endedMs, down, of }: Outage): Term | undefined {
  if (term === undefined || term.untilMs <= beganMs || endedMs <= beganMs) return term
  const lengthMs = endedMs - beganMs
  const leftMs = term.untilMs - beganMs
  const passedMs = Math.ceil((lengthMs * (of - down)) / of)
  const backMs = leftMs >= passedMs ? lengthMs - passedMs : Math.floor((leftMs * of) / (of - down)) - leftMs
  return { ...term, untilMs: term.untilMs + backMs, extendedMs: term.extendedMs + backMs }
}

function addPurchase(term: Term | undefined, purchase: Purchase): Term {
  const { tier, boughtAtMs } = purchase
  const leftMs = term === undefined ? 0 : Math.max(0, term.untilMs - boughtAtMs)
  if (term === undefined || leftMs === 0)
    return { tier, fromMs: boughtAtMs, untilMs: boughtAtMs + periodMs, extendedMs: 0 }
  if (term.tier === tier) return { ...term, untilMs: term.untilMs + periodMs }
  // A higher tier begins at once, and the value of what was left buys time in it. A lower one bought during a higher
  // is worth its price in time of the higher: nothing that was paid for is lost.
  if (tier === 'vip')
    return { ...term, tier, fromMs: boughtAtMs, untilMs: boughtAtMs + periodMs + inVipTime(leftMs, purchase) }
  return { ...term, untilMs: term.untilMs + inVipTime(periodMs, purchase) }
}

/** Rounded down to a millisecond. */
function inVipTime(standardMs: number, { standardMicro, vipMicro }: Purchase): number {
  return Number((BigInt(standardMs) * standardMicro) / vipMicro)
}
