/** What an agent's weight is based on. Nothing in it can be earned by citing. */
export type AgentStake = {
  seed: boolean
  /** Slashable, of the whole funding cluster. */
  clusterBondMicro: bigint
  /** How long that has been at stake, by amount. A wallet may be older than its bond. */
  bondAgeMs: number
  ageMs: number
  /** Spent at payees that are no relations of the agent. */
  independentSpendMicro: bigint
}

/** A bond of this size is a full weight. */
const fullBondMicro = 100_000_000n
/** Less at stake than this has no weight at all. */
const minBondMicro = 10_000_000n
/** Half the bond is less than half the weight: splitting a stake over many wallets loses most of it. */
const bondPower = 1.5
/** A stake counts in full once it has been at risk for so long; at first a quarter of it does. */
const seasonedMs = 90 * 86_400_000
const freshShare = 0.25
/** This much honest spending over a year is half of a full weight, and never more than that. */
const fullSpendMicro = 1_000_000_000
const yearMs = 365 * 86_400_000
const spendShareMax = 0.5

/** Trust in 0..1 of a funding cluster: its wallets share one weight, however many they are. */
export function agentWeight(stake: AgentStake): number {
  if (stake.seed) return 1
  const { clusterBondMicro: bond, bondAgeMs, ageMs, independentSpendMicro } = stake
  const seasoned = freshShare + (1 - freshShare) * Math.min(1, bondAgeMs / seasonedMs)
  const byBond = bond < minBondMicro ? 0 : seasoned * Math.min(1, Number(bond) / Number(fullBondMicro)) ** bondPower
  const years = Math.min(1, ageMs / yearMs)
  const bySpend = Math.min(spendShareMax, ((years * Number(independentSpendMicro)) / fullSpendMicro) ** bondPower)
  return Math.min(1, byBond + bySpend)
}

/** A wallet, and what it has at stake itself. */
export type StakedAgent = {
  cluster: string
  seed: boolean
  bondMicro: bigint
  spendMicro: bigint
  ageMs: number
  bondAgeMs: number
}

/**
 * The weight of each wallet, in the order given. A cluster has one weight, shared out by what each has at stake, so being
 * joined to somebody gives nobody more than that. What the operator trusts nobody can take away by sending it money.
 */
export function weighAgents(agents: readonly StakedAgent[]): number[] {
  const clusters = new Map<string, StakedAgent[]>()
  for (const agent of agents) {
    if (agent.seed) continue
    const members = clusters.get(agent.cluster)
    if (members) members.push(agent)
    else clusters.set(agent.cluster, [agent])
  }
  const weights = new Map([...clusters].map(([cluster, members]) => [cluster, weightByStake(members)]))
  return agents.map((agent) => (agent.seed ? 1 : Math.min(1, stakeOf(agent) * (weights.get(agent.cluster) ?? 0))))
}

/** A full bond and a full spending weigh the same. */
const stakeOf = ({ bondMicro, spendMicro }: StakedAgent) =>
  Number(bondMicro) / Number(fullBondMicro) + Number(spendMicro) / fullSpendMicro

/** For each unit at stake. */
function weightByStake(members: readonly StakedAgent[]): number {
  const stake = members.reduce((sum, one) => sum + stakeOf(one), 0)
  if (stake === 0) return 0
  const bond = members.reduce((sum, { bondMicro }) => sum + bondMicro, 0n)
  const bondAges = members.reduce((sum, { bondMicro, bondAgeMs }) => sum + Number(bondMicro) * bondAgeMs, 0)
  const weight = agentWeight({
    seed: false,
    clusterBondMicro: bond,
    bondAgeMs: bond === 0n ? 0 : bondAges / Number(bond),
    ageMs: members.reduce((most, { ageMs }) => Math.max(most, ageMs), 0),
    independentSpendMicro: members.reduce((sum, { spendMicro }) => sum + spendMicro, 0n),
  })
  return weight / stake
}

/** Parties of one citation. */
export type CitationParties = {
  agentWallet: string
  agentCluster: string
  payeeWallet: string | undefined
  payeeCluster: string | undefined
}

/** Money that circulates within one cluster says nothing about a source. */
export function isSelfDealing(parties: CitationParties): boolean {
  return (
    parties.agentWallet === parties.payeeWallet ||
    (parties.payeeCluster !== undefined && parties.agentCluster === parties.payeeCluster)
  )
}
