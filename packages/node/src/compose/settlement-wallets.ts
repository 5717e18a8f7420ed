import type { Owner } from '@assay/till'
import { createSettlementWallets, createWalletKey, type SettlementWallets } from '@assay/till/chain/wallet'
import type { Config } from '../config/load-config.ts'
import type { Ground, Ports, Stops } from './ground.ts'

/** The wallets that send transactions on one chain, whatever for: settlements of others' payments, or our payouts. */
export function openSettlementWallets(
  config: Config,
  ports: Ports,
  ground: Ground,
  caip2: string,
  owner: Owner,
  stops: Stops,
): SettlementWallets {
  const network = ground.networks.find((known) => known.caip2 === caip2)
  const rpc = ground.rpcs.get(caip2)
  if (!network || !rpc) throw new Error(`${caip2} is not open`)
  const wallets = createSettlementWallets({
    network,
    rpc,
    // A transaction goes to those that rest too: the first that takes it is enough.
    endpoints: rpc.endpoints.map(({ name, ask }) => ({ name, send: ask })),
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
