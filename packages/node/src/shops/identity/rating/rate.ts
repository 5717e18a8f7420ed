import type { Address } from '@assay/protocol/address'
import { betaMean, betaQuantile } from './beta.ts'
import { partyWeight, type WalletEvidence } from './evidence.ts'

export const ratingMethod = 'assay-credit-1.0'

/** All that a rating is made of. */
export type RatingInput = {
  wallet: Address
  /** One for each network that counts for the DID asked about. */
  evidence: readonly WalletEvidence[]
  /** Which cluster a wallet belongs to; a wallet never seen is its own cluster. */
  clusters: ReadonlyMap<Address, string>
  upheldDisputes: number
  nowMs: number
}

export type RatingComponent = {
  id: 'reliability' | 'tenure' | 'breadth'
  /** 0..1. */
  value: number
  evidence: Record<string, number | string>
}

export type Rating = {
  score: number
  interval: { low: number; high: number; level: number }
  components: RatingComponent[]
  evidence: Record<string, number | string>
}

const level = 0.9
const evidencePerDayMax = 4
/** What a unit of evidence costs: small payments are evidence too, but a reputation of them alone would cost cents. bench/identity/rating-cost.ts has the cheapest way to each score. */
const evidenceMicro = 250_000
const disputeWeight = 5
const tenureDays = 90
const wakeDays = 7
const dayMs = 86_400_000

/**
 * How likely a payment of this wallet settles, as far as it was seen to: the lower end of a Beta posterior, times what
 * age and breadth add. Null without evidence. What a wallet paid to its own cluster is no evidence.
 */
export function rate(input: RatingInput): Rating | null {
  const seen = independentEvidence(input)
  const disputed = disputeWeight * input.upheldDisputes
  if (seen.weight === 0 && disputed === 0) return null
  const all = seen.settled + seen.failed
  const good = all === 0 ? 0 : (seen.paidWeight * seen.settled) / all
  const bad = (all === 0 ? 0 : (seen.weight * seen.failed) / all) + disputed
  const [a, b] = [1 + good, 1 + bad]
  const reliability = {
    mean: betaMean(a, b),
    low: betaQuantile((1 - level) / 2, a, b),
    high: betaQuantile((1 + level) / 2, a, b),
  }
  const ageDays = seen.settled === 0 ? 0 : Math.max(0, (input.nowMs - seen.countsSinceMs) / dayMs)
  // Age alone is cheap: a wallet that slept for a year is no better known for it.
  const tenure = 1 - Math.exp(-Math.min(ageDays, wakeDays * seen.activeDays) / tenureDays)
  const breadth = seen.relatedGroups / (seen.relatedGroups + 2)
  const maturity = 0.5 + 0.25 * tenure + 0.25 * breadth
  const points = (share: number) => Math.round(100 * share * maturity)
  return {
    score: points(reliability.low),
    interval: { low: points(reliability.low), high: points(reliability.high), level },
    components: [
      {
        id: 'reliability',
        value: rounded(reliability.mean),
        evidence: {
          independent_payments: seen.settled,
          failed_settlements: seen.failed,
          upheld_disputes: input.upheldDisputes,
          evidence_weight: rounded(seen.weight),
        },
      },
      { id: 'tenure', value: rounded(tenure), evidence: { days: Math.floor(ageDays), active_days: seen.activeDays } },
      { id: 'breadth', value: rounded(breadth), evidence: { independent_counterparties: seen.relatedGroups } },
    ],
    evidence: countsOf(input, seen),
  }
}

type Seen = ReturnType<typeof independentEvidence>

/** Clusters are looked up now, so that payments between wallets later found to be one cluster lose their weight. */
function independentEvidence({ wallet, evidence, clusters }: RatingInput) {
  const own = clusters.get(wallet) ?? wallet
  const relatedGroups = new Set<string>()
  let [settled, micro, weight, failed, activeDays] = [0, 0n, 0, 0, 0]
  let countsSinceMs = Number.POSITIVE_INFINITY
  for (const { tally, parties } of evidence) {
    countsSinceMs = Math.min(countsSinceMs, tally.countsSinceMs ?? countsSinceMs)
    // The days of one wallet, not of its chains: a second chain must not double what a day can weigh.
    activeDays = Math.max(activeDays, tally.activeDays)
    failed += tally.failed
    for (const [name, party] of parties) {
      const cluster = clusters.get(name) ?? name
      if (cluster === own || party.settled === 0) continue
      relatedGroups.add(cluster)
      settled += party.settled
      micro += party.micro
      weight += partyWeight(party)
    }
  }
  const failedWeight = Math.log2(1 + failed)
  const bought = Number(micro) / evidenceMicro
  const dayMax = evidencePerDayMax * activeDays
  // Failures are evidence without money; payments weigh no more for them.
  const paidWeight = Math.min(weight, bought, dayMax)
  weight = Math.min(weight + failedWeight, Math.max(bought, failedWeight), dayMax)
  return {
    settled,
    micro,
    failed,
    activeDays,
    relatedGroups: relatedGroups.size,
    countsSinceMs,
    weight,
    paidWeight,
  }
}

function countsOf({ evidence, upheldDisputes }: RatingInput, seen: Seen): Record<string, number | string> {
  const sum = (of: (one: WalletEvidence['tally']) => number) =>
    evidence.reduce((total, one) => total + of(one.tally), 0)
  const firstAtMs = Math.min(...evidence.map((one) => one.tally.firstAtMs))
  const lastAtMs = Math.max(...evidence.map((one) => one.tally.lastAtMs))
  return {
    settled_payments: sum((tally) => tally.settled),
    independent_payments: seen.settled,
    independent_micro: seen.micro.toString(),
    failed_settlements: seen.failed,
    reversals: sum((tally) => tally.reversed),
    refunds: sum((tally) => tally.refunded),
    upheld_disputes: upheldDisputes,
    self_dealt_payments: sum((tally) => tally.selfDealt),
    unattributed_payments: sum((tally) => tally.unattributed),
    independent_counterparties: seen.relatedGroups,
    active_days: seen.activeDays,
    ...(evidence.length === 0
      ? {}
      : { first_seen_at: new Date(firstAtMs).toISOString(), last_seen_at: new Date(lastAtMs).toISOString() }),
  }
}

const rounded = (value: number) => Math.round(value * 10_000) / 10_000
