import type { Address } from '@assay/protocol/address'
import type { ChainPort } from '../../chain/index.ts'
import type { Clock } from '../../kernel/clock.ts'

/** A chain on which the contracts were missing, or that could not be read, is looked at again after this long. */
const pollEveryMs = 60_000

type WalletsOn = (network: string) => readonly Address[]

/**
 * The wallets that settle permits, on chains that have Permit2 and the contracts of x402: nothing else is offered. `ask`:
 * asks facilitators that are not ours which wallets these are.
 */
export async function whereDeployed(
  chains: ReadonlyMap<string, ChainPort>,
  clock: Clock,
  walletsOn: WalletsOn,
  ask: () => Promise<void>,
): Promise<WalletsOn> {
  const deployed = new Set<string>()
  let lookedAtMs = Number.NEGATIVE_INFINITY
  const look = async () => {
    lookedAtMs = clock.monotonicMs()
    // What was said before counts until it is said otherwise.
    await ask().catch(() => {})
    const settling = [...chains].filter(([network]) => walletsOn(network).length > 0 && !deployed.has(network))
    await Promise.all(
      settling.map(async ([network, chain]) => {
        if (await chain.permit2.isDeployed().catch(() => false)) deployed.add(network)
      }),
    )
  }
  await look()
  return (network) => {
    if (clock.monotonicMs() - lookedAtMs >= pollEveryMs) void look()
    return deployed.has(network) ? walletsOn(network) : []
  }
}
