import { knownNetworks } from '../../packages/till/src/chain/index.ts'
import { createTill, http, local, type SoldRoute } from '../../packages/till/src/index.ts'
import { asset, facilitatorUrl, network, origin, otherPath, path, payTo, rpc, settlerKey, weather } from './setting.ts'

const known = knownNetworks.find(({ caip2 }) => caip2 === network)
if (!known) throw new Error(`${network} is not known`)

export const till = await createTill({
  database: process.env['DATABASE_URL'],
  ...{ publicUrl: origin, demo: true, payToExclusive: true },
  networks: { base: { payTo, rpc: [rpc], network: { ...known, usdc: { ...known.usdc, address: asset } } } },
  ...(settlerKey === undefined
    ? { facilitator: http(facilitatorUrl) }
    : { facilitator: local({ keys: [settlerKey] }), channels: {} }),
})

/** Metered: less than was quoted is taken from those who pay by `upto`. */
const price = { upTo: '0.001' }

export const sold: SoldRoute = till.sell({ id: 'weather', path, price, summary: 'Weather now' }, async (call) => {
  call.charge('0.0004')
  return weather()
})

export const soldOther: SoldRoute = till.sell(
  { id: 'forecast', path: otherPath, price: '0.002', summary: 'Weather of tomorrow' },
  async () => weather(),
)
