import { z } from 'zod'
import type { OpenShop, RouteDeclaration } from '../../packages/node/src/http/index.ts'
import { openRewardsShop } from '../../packages/node/src/rewards/index.ts'
import { openSubscriptionsShop } from '../../packages/node/src/subscriptions/index.ts'
import { openSteadyExchange } from '../support/steady-exchange.ts'

/** Minutes pass in a moment here, and a series must have lived before the run is over. */
const expirySeconds = 600

/**
 * The shops whose money paths are simulated, beside one whose effects the simulation counts by itself. The exchange has
 * much to do whenever time passes, so one seed in three has it.
 */
export function simulationShops(seed: string): OpenShop[] {
  const shops = [countedShop, openSubscriptionsShop(), openRewardsShop()]
  return hasExchange(seed) ? [...shops, openSteadyExchange(expirySeconds)] : shops
}

export const hasExchange = (seed: string): boolean => Number(seed) % 3 === 0

export const countedRoutes = [
  { id: 'simulated.small', path: '/simulated/small', micro: 1_500n, revocable: false },
  { id: 'simulated.large', path: '/simulated/large', micro: 2_000_000n, revocable: false },
  { id: 'simulated.pass', path: '/simulated/pass', micro: 3_000_000n, revocable: true },
] as const

const output = z.strictObject({ order: z.string() })

/** Each sale leaves one row, in the transaction of the sale: whoever counts them counts effects. */
const countedShop: OpenShop = (context) => ({
  routes: countedRoutes.map(
    ({ id, path, micro, revocable }): RouteDeclaration => ({
      id,
      area: 'core',
      method: 'GET',
      path,
      summary: `An answer for one order at ${path}`,
      query: z.strictObject({ order: z.string().max(40).default('none') }),
      output,
      example: { output: { order: 'o-1' } },
      next: '/',
      access: {
        kind: 'paid',
        price: { kind: 'fixed', micro },
        networks: [context.base.caip2],
        payee: 'pay_to',
        revocable,
        prepare: async ({ query }) => ({
          answer: {
            status: 200,
            contentType: 'application/json',
            body: JSON.stringify({ order: (query as { order: string }).order }),
          },
          reservation: { order: (query as { order: string }).order },
        }),
        commit: async (tx, sale) => {
          await tx.query('insert into simulated_effect (payment_id, round, order_id) values ($1, $2, $3)', [
            sale.paymentId,
            sale.round,
            (sale.reservation as { order: string }).order,
          ])
          return undefined
        },
        revoke: async (tx, sale) => {
          await tx.query('update simulated_effect set revoked = true where payment_id = $1 and round = $2', [
            sale.paymentId,
            sale.round,
          ])
        },
      },
    }),
  ),
})
