import type { Address } from '@assay/protocol/address'
import type { ChainPort } from '../../chain/index.ts'
import type { Clock } from '../../kernel/clock.ts'

/** A chain on which the contracts were missing, or that could not be read, is looked at again after this long. */
const lookEveryMs = 60_000

type WalletsOn = (network: string) => readonly Address[]

/** The wallets that settle permits, on chains that have Permit2 and the contracts of x402: nothing else is offered. */
export async function whereDeployed(
  chains: ReadonlyMap<string, ChainPort>,
  clock: Clock,
  walletsOn: WalletsOn,
): Promise<WalletsOn> {
  const deployed = new Set<string>()
  const lookedAtMs = new Map<string, number>()
  const look = async (network: string, chain: ChainPort) => {
    lookedAtMs.set(network, clock.monotonicMs())
    if (await chain.permit2.isDeployed().catch(() => false)) deployed.add(network)
  }
  const settling = [...chains].filter(([network]) => walletsOn(network).length > 0)
  await Promise.all(settling.map(([network, chain]) => look(network, chain)))
  return (network) => {
    if (deployed.has(network)) return walletsOn(network)
    const chain = chains.get(network)
    const sinceMs = clock.monotonicMs() - (lookedAtMs.get(network) ?? clock.monotonicMs())
    if (chain && sinceMs >= lookEveryMs) void look(network, chain)
    return []
  }
}
