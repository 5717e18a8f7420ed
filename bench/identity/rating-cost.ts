// npx tsx bench/identity/rating-cost.ts: the cheapest way to each credit score, by the rules of the rating itself. Creators
// are the buyer under names that nobody can connect with it, so nine tenths of what they earn come back; of what the operator
// earns an unconnected affiliate gets 15 % back. Credit that is topped up and withdrawn again, and refunds, are no evidence.
import { noEvidence, type RatingEvent, takeIn } from '../../packages/node/src/shops/identity/rating/evidence.ts'
import { rate } from '../../packages/node/src/shops/identity/rating/rate.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { formatUsd } from '../../packages/protocol/src/money.ts'

const dayMs = 86_400_000
const startMs = Date.UTC(2026, 0, 1)
const addressOf = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`
const wallet = addressOf(1)
const operator = addressOf(2)
/** Prices of what only the operator earns from, and of an attestation. */
const operatorPrices = [1_000n, 20_000n, 50_000n, 250_000n, 1_000_000n]
const attestMicro = 5_000n
const affiliateBps = 1_500n

type Plan = { days: number; creators: number; perDay: number; operatorMicro: bigint; chains: number; related: boolean }

/** What a plan costs in the end, and brings. Related counterparties are wallets of the buyer's own funding cluster. */
function playPlan({ days, creators, perDay, operatorMicro, chains, related }: Plan): { score: number; micro: bigint } {
  const parties = [operator, ...Array.from({ length: creators }, (_, i) => addressOf(10 + i))]
  let micro = 0n
  const evidence = Array.from({ length: chains }, (_, chain) => {
    const seen = noEvidence(startMs)
    for (let at = 0; at < days; at += 1)
      for (const party of parties)
        for (let n = 0; n < perDay; n += 1) {
          const price = party === operator ? operatorMicro : attestMicro
          const costMicro = party === operator ? price : price / 10n
          const event: RatingEvent = {
            ...{ kind: 'settled', wallet, network: `eip155:${chain}`, atMs: startMs + at * dayMs + n },
            ...{ micro: price, costMicro, parties: [party], attribution: 'counts' },
          }
          takeIn(seen, event)
          micro += party === operator ? price - (price * affiliateBps) / 10_000n : costMicro
        }
    return seen
  })
  const clusters = new Map<Address, string>(
    related ? [wallet, ...parties.slice(1)].map((one) => [one, 'one cluster']) : [],
  )
  const nowMs = startMs + days * dayMs
  return { score: rate({ wallet, evidence, clusters, upheldDisputes: 0, nowMs })?.score ?? 0, micro }
}

const dayChoices = [1, 3, 7, 14, 30, 60, 90, 180]
const plans = [1, 2, 3, 7, 15].flatMap((perDay) =>
  [0, 1, 2, 4, 8].flatMap((creators) =>
    dayChoices.flatMap((days) =>
      operatorPrices.flatMap((operatorMicro) =>
        [1, 2].flatMap((chains) =>
          [false, true].map((related): Plan => ({ days, creators, perDay, operatorMicro, chains, related })),
        ),
      ),
    ),
  ),
)
const played = plans.map((plan) => ({ plan, ...playPlan(plan) }))
process.stdout.write(
  'score  usd     days  creators  payments per day and party  price to the operator  chains  related\n',
)
for (const target of [20, 30, 40, 50, 60, 64, 70, 80, 90]) {
  const [best] = played
    .filter(({ score }) => score >= target)
    .sort((a, b) => Number(a.micro - b.micro) || a.plan.days - b.plan.days)
  if (best === undefined) process.stdout.write(`${target}     not reached within ${dayChoices.at(-1)} days\n`)
  else {
    const { days, creators, perDay, operatorMicro, chains, related } = best.plan
    process.stdout.write(
      `${target}     ${formatUsd(best.micro)}  ${days}  ${creators}  ${perDay}  ${formatUsd(operatorMicro)}  ${chains}  ${related}\n`,
    )
  }
}
for (const days of dayChoices) {
  const best = Math.max(...played.filter(({ plan }) => plan.days === days).map(({ score }) => score))
  process.stdout.write(`highest score after ${days} days at any price: ${best}\n`)
}
