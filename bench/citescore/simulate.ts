import { agentWeight } from '../../packages/node/src/shops/sources/score/agent-weight.ts'
import { authorityValue } from '../../packages/node/src/shops/sources/score/components.ts'
import { areaUnderCurve, spearman } from '../../packages/node/src/shops/sources/score/rank-statistics.ts'
import { type Citation, createTrustGraph } from '../../packages/node/src/shops/sources/score/trust-graph.ts'

export type World = { agents: number; sources: number; citations: number; seeds: number; seed: number }
export type Attack = {
  name: string
  wallets: number
  ownCitations: number
  camouflagePerWallet: number
  bondUsd: number
}
export type AttackResult = {
  attack: Attack
  costUsd: number
  rankBefore: number
  rank: number
  pointsGained: number
  pointsPerUsd: number
  rankByCount: number
  spearmanAttacked: number
  aucAttacked: number
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
const attacker = 'attacker-source'

/** Honest agents prefer good sources, with noise; then each attack is played on a copy of that world. */
export function simulate(world: World, attacks: readonly Attack[]): Simulation {
  const next = random(world.seed)
  const quality = Array.from({ length: world.sources }, () => next())
  const honest = honestCitations(world, quality, next)
  const names = quality.map((_, index) => `s${index}`)
  const weight = (agent: string) => (Number(agent.slice(1)) < world.seeds && agent.startsWith('h') ? 1 : 0)
  const base = authorities(honest, weight, names)
  const counts = countsOf(honest, names)
  return {
    spearmanTrust: spearman(base, quality) ?? 0,
    spearmanCounts: spearman(counts, quality) ?? 0,
    aucTrust: aucOf(base, quality),
    attacks: attacks.map((attack) => play(attack, world, honest, quality, names, weight, next)),
  }
}

/** How well the value tells the better half of the sources from the other. */
const aucOf = (values: readonly number[], quality: readonly number[]) =>
  areaUnderCurve(
    values,
    quality.map((one) => one >= 0.5),
  ) ?? 0

function honestCitations(world: World, quality: readonly number[], next: () => number): Citation[] {
  return Array.from({ length: world.citations }, () => {
    // The better of three that came to mind, judged with noise.
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
  const graph = createTrustGraph(weight, (agent) => (agent.startsWith('x') ? 'x' : agent))
  graph.add(citations)
  const meanMass = graph.meanMass()
  return names.map((name) =>
    authorityValue({ mass: graph.mass(name), meanMass, effectiveCiters: graph.effectiveCiters(name) }, undefined),
  )
}

function countsOf(citations: readonly Citation[], names: readonly string[]): number[] {
  const counts = new Map<string, number>()
  for (const { source } of citations) counts.set(source, (counts.get(source) ?? 0) + 1)
  return names.map((name) => counts.get(name) ?? 0)
}

const rankOf = (values: readonly number[], index: number) =>
  1 + values.filter((value) => value > (values[index] ?? 0)).length

function play(
  attack: Attack,
  world: World,
  honest: readonly Citation[],
  quality: readonly number[],
  names: readonly string[],
  weight: (agent: string) => number,
  next: () => number,
): AttackResult {
  const all = [...names, attacker]
  const wash: Citation[] = []
  for (let wallet = 0; wallet < attack.wallets; wallet += 1) {
    for (let n = 0; n < attack.ownCitations / attack.wallets; n += 1)
      wash.push({ agent: `x${wallet}`, source: attacker })
    for (let n = 0; n < attack.camouflagePerWallet; n += 1)
      wash.push({ agent: `x${wallet}`, source: `s${Math.floor(next() * world.sources)}` })
  }
  // All wallets of the attack were funded by one wallet: one cluster, one bond.
  const bought = agentWeight({
    seed: false,
    clusterBondMicro: BigInt(Math.round(attack.bondUsd * 1_000_000)),
    ageMs: 0,
    independentSpendMicro: 0n,
  })
  const attacked = (agent: string) => (agent.startsWith('x') ? bought : weight(agent))
  const before = authorities(honest, weight, all)
  const after = authorities([...honest, ...wash], attacked, all)
  const last = all.length - 1
  // A bond comes back; what is lost is the toll on washed citations and the whole price of the others.
  const costUsd = attack.ownCitations * netCostOfWashUsd + attack.wallets * attack.camouflagePerWallet * priceUsd
  const points = 30 * ((after[last] ?? 0) - (before[last] ?? 0))
  return {
    attack,
    costUsd,
    rankBefore: rankOf(before, last),
    rank: rankOf(after, last),
    pointsGained: points,
    pointsPerUsd: points / Math.max(costUsd + attack.bondUsd, 0.01),
    rankByCount: rankOf(countsOf([...honest, ...wash], all), last),
    spearmanAttacked: spearman(after.slice(0, -1), quality) ?? 0,
    aucAttacked: aucOf(after.slice(0, -1), quality),
  }
}
