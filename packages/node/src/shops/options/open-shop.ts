import { demandIndex, marketParties } from '../ports.ts'
import { declareShop, type OpenShop } from '../shop.ts'
import { partiesOf } from './market-parties.ts'
import { type OptionsOpening, openOptions } from './open-options.ts'
import { optionsRetention } from './retention.ts'
import { payoutPurposes } from './set-off-debts.ts'
import { optionsVariables, parseOptionSettings } from './settings.ts'

/** What was won before the market closed is still paid. */
const closed = { routes: [], payoutPurposes }

export const optionsShop = declareShop({
  name: 'options',
  variables: optionsVariables,
  migrations: [new URL('./migrations/', import.meta.url)],
  retention: optionsRetention,
  configure: ({ OPTIONS }, node) =>
    openOptionsShop({ settings: parseOptionSettings(OPTIONS, node.demo), outbound: node }),
})

/** Area C: options on the published demand. Nothing is listed where no demand is published. */
function openOptionsShop(options: Omit<OptionsOpening, 'demand' | 'bondMs' | 'spendMicro'>): OpenShop {
  return async (context) => {
    const index = context.ports.find(demandIndex)
    context.ports.offer(marketParties, partiesOf)
    return (index && (await openOptions(context, { ...options, ...index }))) ?? closed
  }
}
