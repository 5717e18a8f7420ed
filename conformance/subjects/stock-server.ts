import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { amount, asset, facilitatorUrl, network, path, payTo } from './setting.ts'

/** As the documentation of the stock packages has it; the price names the test dollar. */
export const resourceServer = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl })).register(
  network,
  new ExactEvmScheme(),
)

export const routes = {
  [`GET ${path}`]: {
    description: 'Weather now',
    mimeType: 'application/json',
    accepts: {
      ...{ scheme: 'exact', network, payTo },
      price: { amount, asset, extra: { name: 'USD Coin', version: '2' } },
    },
  },
}
