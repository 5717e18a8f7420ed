export { facilitatorRoutes } from './facilitator-routes.ts'

import type { OpenShop } from '../http/index.ts'
import { authRoutes } from './auth-routes.ts'
import { paymentRoutes } from './payment-routes.ts'
import { sandboxRoutes } from './sandbox-routes.ts'

/** What the till itself sells and shows: the sandbox, the status of payments, challenges to sign. */
export function openTillShop(options: { sandbox: boolean }): OpenShop {
  return (context) => ({
    routes: [
      ...paymentRoutes({ sql: context.database }),
      ...authRoutes(context),
      ...(options.sandbox
        ? sandboxRoutes({ clock: context.clock, networks: [context.base.caip2, context.polygon.caip2] })
        : []),
    ],
  })
}
