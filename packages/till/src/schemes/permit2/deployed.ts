import type { ChainPort } from '../../chain/index.ts'
import type { Facilitator, Settlers } from '../../contract/facilitator.ts'
import { permit2Scheme } from '../../facilitators/permit2-payment.ts'
import type { Clock } from '../../kernel/clock.ts'

/** A chain on which the contracts were missing, or that could not be read, is looked at again after this long. */
const pollEveryMs = 60_000
/** A start does not wait long for a facilitator that does not answer. */
const refreshMsMax = 5_000

type Deps = { chains: ReadonlyMap<string, ChainPort>; clock: Clock; facilitator: Facilitator }

/** Who settles permits, on chains that have Permit2 and the contracts of x402: nothing else is offered. */
export async function whereDeployed({ chains, clock, facilitator }: Deps) {
  const deployed = new Set<string>()
  const settlersOn = (network: string): Settlers | undefined => facilitator.settlersOf?.(permit2Scheme, network)
  let lookedAtMs = Number.NEGATIVE_INFINITY
  const look = async () => {
    lookedAtMs = clock.monotonicMs()
    // What was said before counts until it is said otherwise.
    await refreshInTime(facilitator, clock).catch(() => {})
    const settling = [...chains].filter(([network]) => settlersOn(network) !== undefined && !deployed.has(network))
    await Promise.all(
      settling.map(async ([network, chain]) => {
        if (await chain.permit2.isDeployed().catch(() => false)) deployed.add(network)
      }),
    )
  }
  await look()
  return (network: string): Settlers | undefined => {
    if (clock.monotonicMs() - lookedAtMs >= pollEveryMs) void look()
    return deployed.has(network) ? settlersOn(network) : undefined
  }
}

async function refreshInTime(facilitator: Facilitator, clock: Clock): Promise<void> {
  const late = new AbortController()
  const done = new AbortController()
  clock.sleep(refreshMsMax, done.signal).then(
    () => late.abort(),
    () => {},
  )
  try {
    await facilitator.refresh?.(late.signal)
  } finally {
    done.abort()
  }
}
