import { defaultFunding } from '../../packages/node/src/shops/attestations/funding/deps.ts'
import {
  clusterByFunding,
  type FundingShare,
} from '../../packages/node/src/shops/attestations/funding/trace-funding.ts'
import { agentWeight, weighAgents } from '../../packages/node/src/shops/sources/score/agent-weight.ts'
import { authorityValue, usageValue } from '../../packages/node/src/shops/sources/score/components.ts'
import { areaUnderCurve, spearman } from '../../packages/node/src/shops/sources/score/rank-statistics.ts'
import { type Citation, createTrustGraph } from '../../packages/node/src/shops/sources/score/trust-graph.ts'

/** `seeds` are trusted by the operator; `bonded` hold 20 to 100 USD for a year. Nobody else has any weight. */
export type World = { agents: number; sources: number; citations: number; seeds: number; bonded: number; seed: number }

/** An agent with its own bond. */
export type Staked = { agent: string; bondUsd: number }

/** Bonds are spread evenly over all wallets. Without `funding` nothing links them: the worst case for finding clusters. */
export type Attack = {
  name: string
  wallets: number
  bondUsd: number
  ownCitations: number
  camouflagePerWallet: number
  /** Sources of the attacker that are lifted at once. */
  ownSources: number
  ageDays: number
  /** Since when the bond is there; undefined: as long as the wallet. */
  bondDays?: number
  /** Spent at the node itself. */
  spentUsd?: number
  /** How many of the wallets hold the bond now; the others held it before. */
  holders?: number
  /** All wallets are seen to be of one cluster. */
  clustered?: boolean
  /** What the chain shows; `creator` owns the attacker's sources. Strangers are the honest agents with a bond. */
  funding?: (wallets: readonly string[], strangers: readonly Staked[]) => FundingShare[]
}
export type AttackResult = {
  attack: Attack
  costUsd: number
  /** Points that the most successful source gained. */
  pointsGained: number
  /** Points from being quoted, 15 at most. */
  usagePoints: number
  rank: number
  rankByCount: number
  /** Honest sources of the best tenth, by score, that it passes. */
  topTenthPassed: number
  spearmanAttacked: number
}
export type Simulation = {
  spearmanTrust: number
  spearmanCounts: number
  aucTrust: number
  attacks: readonly AttackResult[]
}

/** Small and seeded: the same world every time. */
function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const netCostOfWashUsd = 0.0005
const priceUsd = 0.005
const day = 86_400_000

/** Honest agents prefer good sources, with noise; then each attack is played on a copy of that world. */
export function simulate(world: World, attacks: readonly Attack[]): Simulation {
  const next = random(world.seed)
  const quality = Array.from({ length: world.sources }, () => next())
  const bonds = Array.from({ length: world.bonded }, () => 20 + 80 * next())
  const honest = honestCitations(world, quality, next)
  const names = quality.map((_, index) => `s${index}`)
  const weight = (agent: string) => {
    const number = agent.startsWith('h') ? Number(agent.slice(1)) : Number.POSITIVE_INFINITY
    return number < world.seeds ? 1 : bondedWeight(bonds[number - world.seeds] ?? 0, 365)
  }
  const strangers = bonds.map((bondUsd, n) => ({ agent: `h${world.seeds + n}`, bondUsd }))
  const base = authorities(honest, weight, names)
  return {
    spearmanTrust: spearman(base, quality) ?? 0,
    spearmanCounts: spearman(countsOf(honest, names), quality) ?? 0,
    aucTrust: aucOf(base, quality),
    attacks: attacks.map((attack) => play(attack, world, { honest, quality, names, weight, strangers }, next)),
  }
}

const bondedWeight = (bondUsd: number, ageDays: number, bondDays = ageDays, spentUsd = 0) =>
  agentWeight({
    seed: false,
    clusterBondMicro: BigInt(Math.round(bondUsd * 1_000_000)),
    bondAgeMs: bondDays * day,
    ageMs: ageDays * day,
    independentSpendMicro: BigInt(Math.round(spentUsd * 1_000_000)),
  })

/** How well the value tells the better half of the sources from the other. */
const aucOf = (values: readonly number[], quality: readonly number[]) =>
  areaUnderCurve(
    values,
    quality.map((one) => one >= 0.5),
  ) ?? 0

function honestCitations(world: World, quality: readonly number[], next: () => number): Citation[] {
  return Array.from({ length: world.citations }, () => {
    // The better of three that came to mind, scored with noise.
    const seen = Array.from({ length: 3 }, () => Math.floor(next() * world.sources))
    const best = seen
      .map((index) => ({ index, liked: (quality[index] ?? 0) + 0.4 * (next() - 0.5) }))
      .sort((one, other) => other.liked - one.liked)[0]
    return { agent: `h${Math.floor(next() * world.agents)}`, source: `s${best?.index ?? 0}` }
  })
}

function authorities(
  citations: readonly Citation[],
  weight: (agent: string) => number,
  names: readonly string[],
): number[] {
  const graph = createTrustGraph(weight)
  graph.add(citations)
  const meanMass = graph.meanMass()
  return names.map((name) => authorityValue({ mass: graph.mass(name), meanMass, stake: graph.stake(name) }, undefined))
}

function countsOf(citations: readonly Citation[], names: readonly string[]): number[] {
  const counts = new Map<string, number>()
  for (const { source } of citations) counts.set(source, (counts.get(source) ?? 0) + 1)
  return names.map((name) => counts.get(name) ?? 0)
}

/** All that quote it, each once. */
const stakeOf = (citations: readonly Citation[], weight: (agent: string) => number, source: string) =>
  [...new Set(citations.filter((one) => one.source === source).map(({ agent }) => agent))].reduce(
    (sum, agent) => sum + weight(agent),
    0,
  )

const rankOf = (values: readonly number[], index: number) =>
  1 + values.filter((value) => value > (values[index] ?? 0)).length

type Honest = {
  honest: readonly Citation[]
  quality: readonly number[]
  names: readonly string[]
  weight: (agent: string) => number
  strangers: readonly Staked[]
}

/** Citations that count, and weights, once funding was read: a cluster shares one weight, and none for its own source. */
function applyFunding(
  attack: Attack,
  { strangers, weight }: Honest,
  bought: { holders: number; bondUsd: number; weight: (agent: string) => number },
): { weight: (agent: string) => number; isOwn: (citation: Citation) => boolean } {
  if (!attack.funding) return { weight: bought.weight, isOwn: () => false }
  const wallets = Array.from({ length: attack.wallets }, (_, n) => `x${n}`)
  const own = wallets.slice(0, bought.holders).map((agent) => ({ agent, bondUsd: bought.bondUsd }))
  const staked = [...strangers, ...own]
  const parties = [...wallets, 'creator', ...strangers.map(({ agent }) => agent)]
  const clusterOf = clusterByFunding(parties, attack.funding(wallets, strangers), defaultFunding.hops)
  const weights = weighAgents(
    staked.map(({ agent, bondUsd }) => ({
      cluster: clusterOf(agent),
      seed: false,
      bondMicro: BigInt(Math.round(bondUsd * 1_000_000)),
      spendMicro: 0n,
      ageMs: 365 * day,
      bondAgeMs: day * (agent.startsWith('x') ? (attack.bondDays ?? attack.ageDays) : 365),
    })),
  )
  const shared = new Map(staked.map(({ agent }, at) => [agent, weights[at] ?? 0]))
  return {
    weight: (agent) => shared.get(agent) ?? (agent.startsWith('x') ? 0 : weight(agent)),
    isOwn: ({ agent, source }) => source.startsWith('own') && clusterOf(agent) === clusterOf('creator'),
  }
}

function play(attack: Attack, world: World, before: Honest, next: () => number): AttackResult {
  const { honest, quality, names, weight } = before
  const own = Array.from({ length: attack.ownSources }, (_, n) => `own${n}`)
  const all = [...names, ...own]
  const citer = (wallet: number) => `x${attack.clustered ? 0 : wallet}`
  const wash: Citation[] = []
  for (let wallet = 0; wallet < attack.wallets; wallet += 1) {
    for (let n = 0; n < attack.ownCitations / attack.wallets; n += 1)
      wash.push({ agent: citer(wallet), source: own[n % own.length] as string })
    for (let n = 0; n < attack.camouflagePerWallet; n += 1)
      wash.push({ agent: citer(wallet), source: `s${Math.floor(next() * world.sources)}` })
  }
  const holders = attack.clustered ? 1 : (attack.holders ?? attack.wallets)
  const [bond, spent] = [attack.bondUsd / holders, (attack.spentUsd ?? 0) / holders]
  const bought = bondedWeight(bond, attack.ageDays, attack.bondDays, spent)
  const { weight: weightNow, isOwn } = applyFunding(attack, before, {
    holders,
    bondUsd: bond,
    weight: (agent) => (agent.startsWith('x') ? (Number(agent.slice(1)) < holders ? bought : 0) : weight(agent)),
  })
  const counted = wash.filter((citation) => !isOwn(citation))
  const unattacked = authorities(honest, weight, all)
  const after = authorities([...honest, ...counted], weightNow, all)
  const counts = countsOf([...honest, ...wash], all)
  const best = own.map((_, n) => names.length + n).sort((a, b) => (after[b] ?? 0) - (after[a] ?? 0))[0] as number
  const honestNow = after.slice(0, names.length)
  const topTenth = [...honestNow].sort((a, b) => b - a).slice(0, Math.floor(names.length / 10))
  return {
    attack,
    // A bond comes back; what is lost is the toll on wash-traded citations and the whole price of the others.
    costUsd:
      (attack.spentUsd ?? 0) +
      attack.ownCitations * netCostOfWashUsd +
      attack.wallets * attack.camouflagePerWallet * priceUsd,
    usagePoints: 15 * (usageValue(stakeOf(counted, weightNow, all[best] as string)) - usageValue(0)),
    pointsGained: 30 * ((after[best] ?? 0) - (unattacked[best] ?? 0)),
    rank: rankOf(after, best),
    rankByCount: rankOf(counts, best),
    topTenthPassed: topTenth.filter((value) => value <= (after[best] ?? 0)).length,
    spearmanAttacked: spearman(honestNow, quality) ?? 0,
  }
}
