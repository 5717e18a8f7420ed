import type { Micro } from '@assay/protocol/money'
import { type AnyTier, periodMs } from './policy.ts'

/** One period that was bought, with both prices of that moment. */
export type Purchase = {
  tier: AnyTier
  boughtAtMs: number
  standardMicro: Micro
  vipMicro: Micro
  /** An upgrade changes the tier of what is left and adds no time. */
  kind?: 'period' | 'renewal' | 'upgrade'
  /** For an upgrade: the paid time that was left then. */
  paidMs?: number | null
}

/** A time in which `down` of the `of` parts of what is covered could not be had. */
export type Outage = { beganMs: number; endedMs: number; down: number; of: number; paused?: boolean }

/** A time in which the wallet itself paused what it had. */
export type Pause = { beganMs: number; endedMs: number }

export type Term = {
  tier: AnyTier
  fromMs: number
  untilMs: number
  /** Time given back for outages; contained in `untilMs`. */
  extendedMs: number
}

/**
 * What purchases add up to, oldest first, with the time of outages added in proportion to what was down. Computing
 * from the beginning makes taking a purchase back the same as its never having been bought.
 */
export function computeTerm(purchases: readonly Purchase[], outages: readonly Outage[] = []): Term | undefined {
  const times = purchases.map(({ boughtAtMs }) => boughtAtMs)
  const pieces = outages.flatMap((outage) => splitAt(outage, times)).sort((a, b) => a.beganMs - b.beganMs)
  let term: Term | undefined
  for (const purchase of purchases) {
    while (pieces[0] && pieces[0].endedMs <= purchase.boughtAtMs) term = extendForOutage(term, pieces.shift() as Outage)
    term = addPurchase(term, purchase)
  }
  return pieces.reduce(extendForOutage, term)
}

/** So that no purchase falls inside a piece. */
function splitAt(outage: Outage, times: readonly number[]): Outage[] {
  const cuts = times.filter((ms) => ms > outage.beganMs && ms < outage.endedMs)
  const edges = [...new Set([outage.beganMs, ...cuts, outage.endedMs])].sort((a, b) => a - b)
  return edges.slice(1).map((endedMs, index) => ({ ...outage, beganMs: edges[index] as number, endedMs }))
}

/** While a part is down, time passes only in proportion to what is up. */
function extendForOutage(term: Term | undefined, { beganMs, endedMs, down, of, paused }: Outage): Term | undefined {
  if (term === undefined || term.untilMs <= beganMs || endedMs <= beganMs) return term
  const lengthMs = endedMs - beganMs
  const leftMs = term.untilMs - beganMs
  const passedMs = Math.ceil((lengthMs * (of - down)) / of)
  const backMs = leftMs >= passedMs ? lengthMs - passedMs : Math.floor((leftMs * of) / (of - down)) - leftMs
  return { ...term, untilMs: term.untilMs + backMs, extendedMs: term.extendedMs + (paused ? 0 : backMs) }
}

/** What is paused is not used, so nothing that is down then is given back a second time. */
export function withPauses(outages: readonly Outage[], pauses: readonly Pause[]): Outage[] {
  const rest = pauses.reduce<Outage[]>(
    (left, pause) =>
      left.flatMap((outage) =>
        [
          { ...outage, endedMs: Math.min(outage.endedMs, pause.beganMs) },
          { ...outage, beganMs: Math.max(outage.beganMs, pause.endedMs) },
        ].filter(({ beganMs, endedMs }) => beganMs < endedMs),
      ),
    [...outages],
  )
  return [...rest, ...pauses.map((pause) => ({ ...pause, down: 1, of: 1, paused: true }))]
}

function addPurchase(term: Term | undefined, purchase: Purchase): Term | undefined {
  const { tier, boughtAtMs } = purchase
  const leftMs = term === undefined ? 0 : Math.max(0, term.untilMs - boughtAtMs)
  if (purchase.kind === 'upgrade') return addUpgrade(term, leftMs, purchase)
  if (term === undefined || leftMs === 0)
    return { tier, fromMs: boughtAtMs, untilMs: boughtAtMs + periodMs, extendedMs: 0 }
  if (term.tier === tier) return { ...term, untilMs: term.untilMs + periodMs }
  // A higher tier begins at once, and the value of what was left buys time in it. A lower one bought during a higher
  // is worth its price in time of the higher: nothing that was paid for is lost.
  if (tier === 'vip')
    return { ...term, tier, fromMs: boughtAtMs, untilMs: boughtAtMs + periodMs + inVipTime(leftMs, purchase) }
  return { ...term, untilMs: term.untilMs + inVipTime(periodMs, purchase) }
}

/**
 * Converts the standard time that the upgrade paid for into vip time. If part of that time was reversed since, the unused part of
 * the price buys vip time. Time that the upgrade did not pay for is converted at its standard price.
 */
function addUpgrade(term: Term | undefined, leftMs: number, purchase: Purchase): Term | undefined {
  const { tier, boughtAtMs, standardMicro, vipMicro } = purchase
  const raisedMs = term?.tier === tier ? 0 : Math.min(leftMs, purchase.paidMs ?? leftMs)
  const unusedMs = (purchase.paidMs ?? raisedMs) - raisedMs
  const boughtMs = Number((BigInt(unusedMs) * (vipMicro - standardMicro)) / vipMicro)
  if (term?.tier === tier && leftMs > 0) return { ...term, untilMs: term.untilMs + boughtMs }
  const vipMs = raisedMs + inVipTime(leftMs - raisedMs, purchase) + boughtMs
  if (vipMs === 0) return term
  const extendedMs = leftMs > 0 ? (term?.extendedMs ?? 0) : 0
  return { tier, fromMs: boughtAtMs, untilMs: boughtAtMs + vipMs, extendedMs }
}

/** Rounded down to a millisecond. */
function inVipTime(standardMs: number, { standardMicro, vipMicro }: Purchase): number {
  return Number((BigInt(standardMs) * standardMicro) / vipMicro)
}
