import { checksumAddress } from '@assay/protocol/address'
import type { Devnet } from '@assay/till/devnet'
import { demoUsdcAddress } from '@assay/till/devnet/accounts'
import { demoAccountsOf } from '../config/demo-accounts.ts'
import type { Config } from '../config/load-config.ts'
import type { Shop } from '../shops/shop.ts'

const hiddenRoles = new Set(['settler', 'custody'])

/** The `demo` object of the index: all that a script or a newcomer needs to buy at once. Its keys are worthless elsewhere. */
export function demoObject(config: Config, devnets: readonly Devnet[], shops: readonly Shop[]) {
  return {
    synthetic: true,
    chains: config.networks.map((network) => ({
      network: network.caip2,
      rpc: devnets.find(({ chainId }) => chainId === network.chainId)?.url ?? withoutKey(network.rpcUrls[0]),
      usdc: checksumAddress(demoUsdcAddress(network.chainId)),
    })),
    accounts: demoAccountsOf(config.shops)
      .filter((account) => !hiddenRoles.has(account.role))
      .map((account) => ({
        role: account.role,
        address: checksumAddress(account.address),
        private_key: account.privateKey,
      })),
    ...Object.assign({}, ...shops.map((shop) => shop.demo?.() ?? {})),
  }
}

/** A chain that this node joined may be reached by a key in its URL, which is the operator's. */
const withoutKey = (url: string | undefined) => (url === undefined ? null : new URL(url).origin)
