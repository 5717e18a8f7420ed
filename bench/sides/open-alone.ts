import type { OpenShop, Shop, ShopContext } from '../../packages/node/src/shops/shop.ts'
import { createShopPorts } from '../../packages/node/src/shops/shop-ports.ts'
import { knownNetworks, type Network } from '../../packages/till/src/chain/index.ts'
import { createJwsPort } from '../../packages/till/src/compose/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { createIds } from '../../packages/till/src/kernel/ids.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { silentMetrics } from '../../packages/till/src/kernel/metrics.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { createNonceIssuer } from '../../packages/till/src/proofs/index.ts'
import { createFixedKeyring, generateSigningKey } from '../../packages/till/src/signing/index.ts'
import type { Listener } from './serve-shop.ts'

export const base = knownNetworks[0] as Network

type Parts = Pick<ShopContext, 'database' | 'rpcs'> & Partial<ShopContext>

/** A shop without the rest of a node: all that a shop is given, so that one which needs more does not compile here. */
export async function openAlone(
  { url }: Listener,
  open: OpenShop,
  parts: Parts,
): Promise<{ shop: Shop; keyring: ShopContext['keyring'] }> {
  const keyring = createFixedKeyring(generateSigningKey(systemRng), 0)
  const ports = { clock: systemClock, rng: systemRng, log: silentLog, metrics: silentMetrics }
  const shop = await open({
    ...ports,
    ids: createIds(systemClock, systemRng),
    mode: 'demo',
    ...{ baseUrl: url, apiUrl: url, base, networks: [base], assets: [base] },
    chains: new Map(),
    endpoints: new Map(),
    ...{ home: '', cacheFolder: '' },
    payees: { pay_to: {}, custody: {} },
    custody: undefined,
    screening: { find: async () => undefined },
    ports: createShopPorts(),
    topics: [],
    ...{ keyring, logKeyring: keyring, jws: createJwsPort(keyring, [new URL(url).host], systemClock) },
    proofs: {
      nonces: createNonceIssuer({ secret: systemRng.bytes(32), clock: systemClock, rng: systemRng }),
      claimNonce: async () => true,
      checkContractSignature: async () => 'could_not_check',
      ...{ clock: systemClock, chainIds: [base.chainId] },
    },
    ...parts,
  })
  return { shop, keyring }
}
