/** What an agent's voice rests on. Nothing in it can be earned by citing. */
export type AgentStanding = {
  seed: boolean
  /** Slashable, of the whole funding cluster. */
  clusterBondMicro: bigint
  clusterAgents: number
  ageMs: number
  /** Spent at payees that are no relations of the agent. */
  independentSpendMicro: bigint
}

/** A bond of this size is a full voice. */
export const fullBondMicro = 100_000_000n
/** This much honest spending over a year is half a voice, and never more than that. */
const fullSpendMicro = 1_000_000_000
const yearMs = 365 * 86_400_000
const spendShareMax = 0.5

/** Trust in 0..1. A bond counts once for a cluster however many wallets share it. */
export function agentWeight(standing: AgentStanding): number {
  const byBond = Math.min(1, Number(standing.clusterBondMicro) / Number(fullBondMicro))
  const bySpend = Math.min(
    spendShareMax,
    (Math.min(1, standing.ageMs / yearMs) * Number(standing.independentSpendMicro)) / fullSpendMicro,
  )
  const cluster = standing.seed ? 1 : Math.min(1, byBond + bySpend)
  return standing.seed ? 1 : cluster / Math.max(1, standing.clusterAgents)
}

/** Parties of one citation. */
export type CitationParties = {
  agentWallet: string
  agentCluster: string
  payeeWallet: string | undefined
  payeeCluster: string | undefined
}

/** Money that goes round in one house says nothing about a source. */
export function isSelfDealing(parties: CitationParties): boolean {
  return (
    parties.agentWallet === parties.payeeWallet ||
    (parties.payeeCluster !== undefined && parties.agentCluster === parties.payeeCluster)
  )
}
