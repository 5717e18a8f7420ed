import { handOut } from '../hand-out.ts'
import { simulate } from './simulate.ts'

// npx tsx bench/citescore/main.ts
const world = { agents: 2_000, sources: 500, citations: 40_000, seeds: 50, seed: 20_261_115 }
const attacks = [
  { name: 'wash, 500 wallets', wallets: 500, ownCitations: 10_000, camouflagePerWallet: 0, bondUsd: 0 },
  { name: 'wash, 5,000 wallets', wallets: 5_000, ownCitations: 100_000, camouflagePerWallet: 0, bondUsd: 0 },
  { name: 'camouflage, 500 wallets', wallets: 500, ownCitations: 10_000, camouflagePerWallet: 5, bondUsd: 0 },
  { name: 'camouflage, 20,000 wallets', wallets: 20_000, ownCitations: 40_000, camouflagePerWallet: 5, bondUsd: 0 },
  { name: 'bond 100, 500 wallets', wallets: 500, ownCitations: 10_000, camouflagePerWallet: 5, bondUsd: 100 },
  { name: 'bond 1,000, 10 wallets', wallets: 10, ownCitations: 1_000, camouflagePerWallet: 20, bondUsd: 1_000 },
]
const result = simulate(world, attacks)
handOut({
  figure: 'rank correlation of trust with hidden quality',
  asked: null,
  measured: `${result.spearmanTrust.toFixed(3)}; plain counts ${result.spearmanCounts.toFixed(3)}`,
  reached: null,
  peer: 'plain counts',
  ratio: Number((result.spearmanTrust / result.spearmanCounts).toFixed(2)),
})
const wider = simulate({ ...world, seeds: 500 }, [])
console.log(
  `${world.agents} honest agents (${world.seeds} seeds, ${(100 * world.seeds) / world.agents} %), ${world.sources} sources, ${world.citations} citations`,
)
console.log(
  `rank correlation with hidden quality: trust ${result.spearmanTrust.toFixed(3)} (AUC ${result.aucTrust.toFixed(3)}), plain counts ${result.spearmanCounts.toFixed(3)}; with 500 trusted agents ${wider.spearmanTrust.toFixed(3)}`,
)
console.log(
  'attack                       cost USD  bond USD  rank by count  rank by trust  points gained  per USD staked  correlation    AUC',
)
for (const one of result.attacks)
  console.log(
    [
      one.attack.name.padEnd(28),
      one.costUsd.toFixed(2).padStart(8),
      String(one.attack.bondUsd).padStart(9),
      `${one.rankByCount}/501`.padStart(14),
      `${one.rank}/501`.padStart(14),
      one.pointsGained.toFixed(2).padStart(14),
      one.pointsPerUsd.toFixed(4).padStart(15),
      one.spearmanAttacked.toFixed(3).padStart(12),
      one.aucAttacked.toFixed(3).padStart(6),
    ].join(' '),
  )
