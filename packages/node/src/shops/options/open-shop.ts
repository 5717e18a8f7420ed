import type { OpenShop } from '../../http/index.ts'
import { demandIndex } from '../ports.ts'
import { type OptionsOpening, openOptions } from './open-options.ts'
import { payoutPurposes } from './set-off-debts.ts'

/** What was won before the market closed is still paid. */
const closed = { routes: [], payoutPurposes }

/** Area C: options on the published demand. Nothing is listed where no demand is published. */
export function openOptionsShop(options: Omit<OptionsOpening, 'demand' | 'bondMs'> = {}): OpenShop {
  return async (context) => {
    const index = context.ports.find(demandIndex)
    return (index && (await openOptions(context, { ...options, ...index }))) ?? closed
  }
}
