import { isLoopbackUrl } from '@assay/protocol/loopback'
import { base, polygon } from '@assay/protocol/networks'

/** Networks on which money is worth nothing; every other one counts as a main network. */
const testNetworks = new Set(
  [84532, 80002, 11155111, 11155420, 421614, 43113, 97, 1337, 31337].map((id) => `eip155:${id}`),
)

const realAssets = new Set<string>([base.usdc.address, polygon.usdc.address])

/** Real, unless on a test network, or our own token on a chain of this machine that has the number of a main one. */
export const isRealMoney = (offer: { network: string; asset: string }, rpc: string | undefined): boolean => {
  if (testNetworks.has(offer.network)) return false
  return realAssets.has(offer.asset.toLowerCase()) || rpc === undefined || !isLoopbackUrl(rpc)
}
