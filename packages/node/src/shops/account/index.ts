export { facilitatorRoutes } from '../../faces/facilitator/routes.ts'

import { createCreditEntitlement, parseCreditPolicy } from '@assay/till'
import { parsePayoutPolicy } from '@assay/till/payouts'
import type { OpenShop } from '../../http/index.ts'
import { sandboxRoutes } from '../sandbox/routes.ts'
import { authRoutes } from './auth-routes.ts'
import { creditRoutes } from './credit-routes.ts'
import { paymentRoutes } from './payment-routes.ts'
import { provenCaller } from './proven-caller.ts'

/** What the till itself sells and shows: the sandbox, credit, the status of payments, challenges to sign. */
export function openTillShop(options: { sandbox: boolean; credit?: unknown; payouts?: unknown }): OpenShop {
  const policy = parseCreditPolicy(options.credit)
  const payoutPolicy = parsePayoutPolicy(options.payouts)
  return (context) => {
    const credit = createCreditEntitlement({
      ...context,
      networks: [context.base.caip2, context.polygon.caip2],
      provenCaller: (call) => provenCaller(context.proofs, call),
    })
    return {
      entitlements: [credit],
      jobs: [{ name: 'credit.holds', intervalMs: 10_000, work: () => credit.recover() }],
      routes: [
        ...creditRoutes({ ...context, policy, payoutPolicy }),
        ...paymentRoutes({ sql: context.database }),
        ...authRoutes(context),
        ...(options.sandbox
          ? sandboxRoutes({ clock: context.clock, networks: [context.base.caip2, context.polygon.caip2] })
          : []),
      ],
    }
  }
}
