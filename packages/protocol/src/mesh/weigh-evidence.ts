/** One paid call, as its payer reported it. */
export type ReportedPurchase = { payer: string; outcome: 'ok' | 'disputed'; priceKept: boolean; latencyMs: number }

/** What paid calls say of a node and a capability. */
export type EvidenceSummary = {
  /** Groups of payers that are independent of each other. */
  payers: number
  calls: number
  disputed: number
  /** Share of calls that cost what was stated. */
  price_kept: number
  /** Median. */
  latency_ms: number
  /** How likely a call succeeds: 0.5 without evidence. */
  success: number
}

/** Wallets are free: all that a node was never paid by itself count together as one payer of little weight, and no independent one. */
export const strangers = 'strangers'

const groupWeightMax = 3
const strangersWeightMax = 1
/** How many independent payers make a seller known. */
const knownPayers = 2

/** A payer counts once, however often it buys: calls of a group weigh their logarithm, up to a limit. */
export function weighEvidence(calls: readonly ReportedPurchase[], groupOf: (payer: string) => string): EvidenceSummary {
  const groups = new Map<string, { good: number; bad: number }>()
  for (const { payer, outcome, priceKept } of calls) {
    const group = groups.get(groupOf(payer)) ?? { good: 0, bad: 0 }
    if (outcome === 'ok' && priceKept) group.good += 1
    else group.bad += 1
    groups.set(groupOf(payer), group)
  }
  let [good, bad] = [0, 0]
  for (const [name, group] of groups) {
    const all = group.good + group.bad
    const weight = Math.min(name === strangers ? strangersWeightMax : groupWeightMax, Math.log2(1 + all))
    good += (weight * group.good) / all
    bad += (weight * group.bad) / all
  }
  const latencies = calls.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b)
  const share = (count: number) => (calls.length === 0 ? 1 : count / calls.length)
  return {
    payers: groups.size - (groups.has(strangers) ? 1 : 0),
    calls: calls.length,
    disputed: calls.filter(({ outcome }) => outcome === 'disputed').length,
    price_kept: rounded(share(calls.filter(({ priceKept }) => priceKept).length)),
    latency_ms: latencies[Math.floor(latencies.length / 2)] ?? 0,
    success: rounded((1 + good) / (2 + good + bad)),
  }
}

const rounded = (value: number) => Math.round(value * 1000) / 1000

type Ranked = { priceMicro: bigint; evidence: EvidenceSummary }

/** Sellers that independent buyers vouch for come first, then what a successful call costs: a cheap seller that fails is dear. */
export function byEvidence(a: Ranked, b: Ranked): number {
  const known = ({ evidence: { payers, success } }: Ranked) => payers >= knownPayers && success > 0.5
  if (known(a) !== known(b)) return known(a) ? -1 : 1
  const cost = ({ priceMicro, evidence }: Ranked) => Number(priceMicro) / evidence.success
  return cost(a) - cost(b) || b.evidence.success - a.evidence.success
}

/** In words, for people who ask why one comes first. */
export function whyRanked(
  priceUsd: string,
  seen: boolean,
  { payers, calls, disputed, success }: EvidenceSummary,
): string {
  const asks = `${seen ? 'asks' : 'states'} ${priceUsd} USD`
  if (calls === 0) return `${asks}; no paid call is known`
  const counted = calls === 1 ? '1 paid call' : `${calls} paid calls`
  return `${asks}; ${counted} by ${payers} independent payers, ${disputed} disputed; success ${success}`
}
