import { knownNetworks } from '../../packages/till/src/chain/index.ts'
import { createTill, http, type SoldRoute } from '../../packages/till/src/index.ts'
import { asset, facilitatorUrl, network, origin, path, payTo, rpc, weather } from './setting.ts'

const known = knownNetworks.find(({ caip2 }) => caip2 === network)
if (!known) throw new Error(`${network} is not known`)

const till = await createTill({
  database: process.env['DATABASE_URL'],
  ...{ publicUrl: origin, demo: true, payToExclusive: true },
  networks: { base: { payTo, rpc: [rpc], network: { ...known, usdc: { ...known.usdc, address: asset } } } },
  facilitator: http(facilitatorUrl),
})

export const sold: SoldRoute = till.sell({ id: 'weather', path, price: '0.001', summary: 'Weather now' }, async () =>
  weather(),
)
