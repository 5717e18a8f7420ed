import { createCreditEntitlement, parseCreditPolicy } from '@assay/till'
import { releaseDue } from '@assay/till/credit/bonds'
import { parsePayoutPolicy } from '@assay/till/payouts'
import type { OpenShop } from '../../http/index.ts'
import { authRoutes } from './auth-routes.ts'
import { bondRoutes } from './bond-routes.ts'
import { creditRoutes } from './credit-routes.ts'
import { mandateRoutes } from './mandate-routes.ts'
import { paymentRoutes } from './payment-routes.ts'
import { provenCaller } from './proven-caller.ts'

/** A caller's account: sign-in, credit with its bonds and mandates, the status of payments. Options are the JSON of CREDIT and PAYOUTS. */
export function openAccountShop(options: { credit?: unknown; payouts?: unknown } = {}): OpenShop {
  const policy = parseCreditPolicy(options.credit)
  const payoutPolicy = parsePayoutPolicy(options.payouts)
  return (context) => {
    const credit = createCreditEntitlement({
      ...context,
      networks: context.networks.map(({ caip2 }) => caip2),
      provenCaller: (call) => provenCaller(context.proofs, call),
    })
    return {
      entitlements: [credit],
      jobs: [
        { name: 'credit.holds', intervalMs: 10_000, work: () => credit.recover() },
        { name: 'bonds.release', intervalMs: 10_000, work: () => releaseDue(context) },
      ],
      routes: [
        ...creditRoutes({ ...context, policy, payoutPolicy }),
        ...bondRoutes({ ...context, releaseDelaySeconds: policy.bondReleaseSeconds }),
        ...mandateRoutes(context),
        ...paymentRoutes({ sql: context.database }),
        ...authRoutes(context),
      ],
    }
  }
}
