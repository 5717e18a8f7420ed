import type { ChainPort } from '../chain/index.ts'
import {
  type ChannelPolicy,
  createChannels,
  defaultChannelPolicy,
  usedNetworks,
} from '../schemes/batch-settlement/index.ts'
import type { Composition } from './open-infrastructure.ts'
import type { OpenedSettlement } from './open-settlement.ts'
import type { Ports, SalePart } from './parts.ts'

/** A chain that cannot be read does not hold up the start: channels are sold on it after the next one. */
const pollMs = 3_000

async function isDeployed({ channels }: ChainPort, { clock }: Pick<Ports, 'clock'>): Promise<boolean> {
  const over = new AbortController()
  const late = clock.sleep(pollMs, over.signal).then(
    () => false,
    () => false,
  )
  const deployed = channels.isDeployed().catch(() => false)
  return Promise.race([deployed, late]).finally(() => over.abort())
}

/** Payment channels, on chains that have their contract and a wallet of ours that claims. */
export async function openChannels(
  channels: Partial<ChannelPolicy> | undefined,
  { ports, infrastructure, stops }: Composition,
  { settleMs, screening, local }: OpenedSettlement & { settleMs: number },
): Promise<SalePart | undefined> {
  const { database } = infrastructure.store
  const used = await usedNetworks(database)
  const wallets = new Map((local?.senders ?? []).map((one) => [one.network, one]))
  const found = await Promise.all(
    [...infrastructure.chains].map(async ([network, chain]) => {
      // A further dollar is in neither: channels are of USDC.
      const [on, rpc] = [wallets.get(network), infrastructure.rpcs.get(network)]
      if (used.has(network) && !on) {
        ports.metrics.count('alarms', { alarm: 'channel_claim_failed' })
        ports.log.error({ network }, 'there are payment channels, and no wallet of this node claims from them')
      }
      if (!on || !rpc) return []
      // What was sold before is claimed even while nothing is sold, or the chain cannot be read at this moment.
      const takes = used.has(network) || (channels !== undefined && (await isDeployed(chain, ports)))
      return takes ? [{ chain, rpc, wallets: on }] : []
    }),
  )
  const chains = found.flat()
  if (chains.length === 0) return undefined
  const { clock, ids, log, metrics } = ports
  const { idle, ...part } = createChannels({
    ...{ database, clock, ids, log, metrics, chains, settleMs, screening },
    policy: { ...defaultChannelPolicy, ...channels },
    selling: channels !== undefined,
  })
  stops.push(idle)
  return part
}
