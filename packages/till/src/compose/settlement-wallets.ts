import {
  createSettlementWallets,
  createWalletKey,
  type KeySource,
  type SettlementWallets,
} from '../chain/wallet/index.ts'
import type { Owner } from '../gate/owner.ts'
import type { Composition } from './open-infrastructure.ts'

/** The wallets that send transactions on one chain, whatever for: settlements of others' payments, or our payouts. */
export function openSettlementWallets(
  settlerKeys: readonly KeySource[],
  { ports, infrastructure, stops }: Composition,
  caip2: string,
  owner: Owner,
): SettlementWallets {
  const network = infrastructure.networks.find((known) => known.caip2 === caip2)
  const rpc = infrastructure.rpcs.get(caip2)
  if (!network || !rpc) throw new Error(`${caip2} is not open`)
  const wallets = createSettlementWallets({
    network,
    rpc,
    // A transaction goes to those that rest too: the first that takes it is enough.
    endpoints: rpc.endpoints.map(({ name, ask }) => ({ name, send: ask })),
    database: infrastructure.store.database,
    clock: ports.clock,
    log: ports.log,
    metrics: ports.metrics,
    keys: settlerKeys.map(createWalletKey),
    holder: owner,
  })
  stops.push(() => wallets.stop())
  return wallets
}
