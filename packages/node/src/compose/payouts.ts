import { createSettlementWallets, createWalletKey, type SettlementWallets } from '../chain/wallet/index.ts'
import type { Config } from '../config.ts'
import type { Owner, Payees } from '../payments/index.ts'
import { createCustodyKey, type PayoutChain, type PayoutDeps, parsePayoutPolicy } from '../payouts/index.ts'
import type { Ground, Ports, Stops } from './ground.ts'
import type { Till } from './till.ts'

/** What is paid out by itself once it has reached the minimum. */
const purposes = [{ purpose: 'affiliate' }, { purpose: 'creator' }, { purpose: 'refund', minimumMicro: 1n }]

/**
 * Paying others: authorizations of the custody wallet, carried to the chain by the settlement wallets. A chain whose
 * custody key is not configured accrues and pays nothing.
 */
export function openPayouts(
  config: Config,
  ports: Ports,
  ground: Ground,
  till: Pick<Till, 'owner' | 'switches'>,
  payees: Payees,
  localWallets: readonly SettlementWallets[] | undefined,
  stops: Stops,
): PayoutDeps {
  const keys = config.custodyKeys.map(createCustodyKey)
  const chains = ground.networks.map((network): PayoutChain => {
    const chain = ground.chains.get(network.caip2)
    const rpc = ground.rpcs.get(network.caip2)
    if (!chain || !rpc) throw new Error(`${network.caip2} is not open`)
    const key = keys.find(({ address }) => address === payees.custody[network.caip2])
    const wallets =
      localWallets?.find((one) => one.network === network.caip2) ??
      ownWallets(config, ports, ground, network.caip2, till.owner, stops)
    return { chain, rpc, ...(key === undefined ? {} : { key }), ...(wallets === undefined ? {} : { wallets }) }
  })
  return {
    database: ground.store.database,
    clock: ports.clock,
    ids: ports.ids,
    log: ports.log,
    metrics: ports.metrics,
    policy: parsePayoutPolicy(config.payouts),
    chains,
    purposes,
    switchedOn: async () => !(await till.switches.read()).payouts.on,
  }
}

/** Where somebody else settles for us, our own wallets still carry the payouts, if there are any. */
function ownWallets(
  config: Config,
  ports: Ports,
  ground: Ground,
  caip2: string,
  owner: Owner,
  stops: Stops,
): SettlementWallets | undefined {
  const network = ground.networks.find((known) => known.caip2 === caip2)
  const rpc = ground.rpcs.get(caip2)
  if (config.settlerKeys.length === 0 || !network || !rpc) return undefined
  const wallets = createSettlementWallets({
    network,
    rpc,
    endpoints: ground.endpoints.get(caip2) ?? [],
    database: ground.store.database,
    clock: ports.clock,
    log: ports.log,
    metrics: ports.metrics,
    keys: config.settlerKeys.map(createWalletKey),
    holder: owner,
  })
  stops.push(() => wallets.stop())
  return wallets
}
