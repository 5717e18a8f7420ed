import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { amount, asset, facilitatorUrl, network, otherAmount, otherPath, path, payTo } from './setting.ts'

/** As the documentation of the stock packages has it; the price names the test dollar. */
export const resourceServer = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl })).register(
  network,
  new ExactEvmScheme(),
)

const sells = (description: string, amount: string) => ({
  ...{ description, mimeType: 'application/json' },
  accepts: {
    ...{ scheme: 'exact', network, payTo },
    price: { amount, asset, extra: { name: 'USD Coin', version: '2' } },
  },
})

export const routes = {
  [`GET ${path}`]: sells('Weather now', amount),
  [`GET ${otherPath}`]: sells('Weather of tomorrow', otherAmount),
}
