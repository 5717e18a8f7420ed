import { reportFigures } from '../report-figures.ts'
import { fundingAttacks } from './funding-attacks.ts'
import { type Attack, simulate } from './simulate.ts'

// npx tsx bench/citescore/main.ts
const world = { agents: 2_000, sources: 500, citations: 40_000, seeds: 50, bonded: 450, seed: 20_261_115 }
const usual = { bondUsd: 100, ownCitations: 10_000, camouflagePerWallet: 5, ownSources: 1, ageDays: 365 }
const attacks: Attack[] = [
  { ...usual, name: 'no bond, 5,000 wallets', wallets: 5_000, bondUsd: 0 },
  ...[1, 10, 100, 500].map((wallets) => ({ ...usual, name: `100 USD, ${wallets} wallets`, wallets })),
  { ...usual, name: '100 USD, 10 wallets, no camouflage', wallets: 10, camouflagePerWallet: 0 },
  { ...usual, name: '100 USD, 5 wallets, slow ring', wallets: 5, ownCitations: 100, camouflagePerWallet: 20 },
  { ...usual, name: '100 USD, 10 wallets, 10 own sources', wallets: 10, ownSources: 10 },
  { ...usual, name: '100 USD, 500 wallets, one cluster', wallets: 500, clustered: true },
  { ...usual, name: '100 USD, 1 wallet, no camouflage', wallets: 1, camouflagePerWallet: 0 },
  { ...usual, name: '100 USD, 2 wallets, no camouflage', wallets: 2, camouflagePerWallet: 0 },
  { ...usual, name: '100 USD of today in a wallet of a year', wallets: 1, camouflagePerWallet: 0, bondDays: 0 },
  { ...usual, name: '100 USD passed on through 10 wallets', wallets: 10, camouflagePerWallet: 0, holders: 1 },
  {
    ...usual,
    name: '100 USD spent over a year, no bond',
    wallets: 1,
    camouflagePerWallet: 0,
    bondUsd: 0,
    spentUsd: 100,
  },
  { ...usual, name: '50 USD bonded, 50 spent', wallets: 1, camouflagePerWallet: 0, bondUsd: 50, spentUsd: 50 },
  { ...usual, name: '100 USD, 1 wallet, 100 own sources', wallets: 1, camouflagePerWallet: 0, ownSources: 100 },
  ...fundingAttacks,
  { ...usual, name: '1,000 USD, 10 wallets', wallets: 10, bondUsd: 1_000 },
]
const result = simulate(world, attacks)
const budget = result.attacks.filter(({ attack }) => attack.bondUsd <= 100)
const most = Math.max(...budget.map(({ pointsGained }) => pointsGained))
const mostUsage = Math.max(...budget.map(({ usagePoints }) => usagePoints))
const passed = Math.max(...budget.map(({ topTenthPassed }) => topTenthPassed))
const correlation = Math.min(...result.attacks.map(({ spearmanAttacked }) => spearmanAttacked))
reportFigures({
  figure: 'points that 100 USD buy, of 30; honest sources of the best tenth passed',
  asked: '2; 0',
  measured: `${most.toFixed(2)}; ${passed}; and ${mostUsage.toFixed(2)} of the 15 for being quoted`,
  reached: most <= 2 && passed === 0,
})
reportFigures({
  figure: 'rank correlation of trust with hidden quality, under attack',
  asked: '0.75',
  measured: `${correlation.toFixed(3)}; plain counts ${result.spearmanCounts.toFixed(3)} without any`,
  reached: correlation >= 0.75,
  peer: 'plain counts',
  ratio: Number((correlation / result.spearmanCounts).toFixed(2)),
})
const few = simulate({ ...world, bonded: 0 }, [])
console.log(
  `${world.agents} honest agents (${world.seeds} trusted, ${world.bonded} bonded), ${world.sources} sources, ${world.citations} citations: rank correlation with hidden quality ${result.spearmanTrust.toFixed(3)} (AUC ${result.aucTrust.toFixed(3)}), with the trusted alone ${few.spearmanTrust.toFixed(3)}`,
)
console.log(
  'attack                                   lost USD  points gained  by quotes  rank by count  rank by trust  best tenth passed  correlation',
)
for (const one of result.attacks)
  console.log(
    [
      one.attack.name.padEnd(40),
      one.costUsd.toFixed(2).padStart(8),
      one.pointsGained.toFixed(2).padStart(14),
      one.usagePoints.toFixed(2).padStart(10),
      String(one.rankByCount).padStart(14),
      String(one.rank).padStart(14),
      String(one.topTenthPassed).padStart(18),
      one.spearmanAttacked.toFixed(3).padStart(12),
    ].join(' '),
  )
