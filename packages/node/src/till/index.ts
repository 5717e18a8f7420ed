export { facilitatorRoutes } from './facilitator-routes.ts'

import type { OpenShop } from '../http/index.ts'
import { createCreditEntitlement } from '../payments/index.ts'
import { verifySignedRequest } from '../proofs/index.ts'
import { authRoutes } from './auth-routes.ts'
import { creditRoutes } from './credit-routes.ts'
import { paymentRoutes } from './payment-routes.ts'
import { sandboxRoutes } from './sandbox-routes.ts'

/** What the till itself sells and shows: the sandbox, the status of payments, challenges to sign. */
export function openTillShop(options: { sandbox: boolean }): OpenShop {
  return (context) => {
    const credit = createCreditEntitlement({
      ...context,
      provenCaller: async (call) => {
        const { method, received, headers, rawBody } = call
        const proven = await verifySignedRequest(context.proofs, { method, ...received, headers, rawBody })
        return {
          address: proven.address,
          ...(proven.kind === 'contract' ? { onlyNetwork: `eip155:${proven.chainId}` } : {}),
        }
      },
    })
    return {
      entitlements: [credit],
      jobs: [{ name: 'credit.holds', intervalMs: 30_000, work: () => credit.recover() }],
      routes: [
        ...creditRoutes(context),
        ...paymentRoutes({ sql: context.database }),
        ...authRoutes(context),
        ...(options.sandbox
          ? sandboxRoutes({ clock: context.clock, networks: [context.base.caip2, context.polygon.caip2] })
          : []),
      ],
    }
  }
}
