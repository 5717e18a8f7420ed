import { releaseDue } from '@assay/till/credit/bonds'
import { type CreditPolicy, createCreditEntitlement, createCreditScheme, parseCreditPolicy } from '@assay/till/internal'
import type { PayoutPolicy } from '@assay/till/payouts'
import { declareShop, type OpenShop } from '../shop.ts'
import { authRoutes } from './auth-routes.ts'
import { bondRoutes } from './bond-routes.ts'
import { creditRoutes } from './credit-routes.ts'
import { disputeRoutes } from './dispute-routes.ts'
import { invoiceRoutes } from './invoices/routes.ts'
import { type InvoiceSettings, parseInvoiceSettings } from './invoices/settings.ts'
import { mandateRoutes } from './mandate-routes.ts'
import { paymentRoutes } from './payment-routes.ts'
import { provenCaller } from './proven-caller.ts'
import { accountRetention } from './retention.ts'
import { accountVariables } from './settings.ts'

export const accountShop = declareShop({
  name: 'account',
  opensWithTill: true,
  variables: accountVariables,
  migrations: [new URL('./migrations/', import.meta.url)],
  retention: accountRetention,
  configure: ({ CREDIT, INVOICES }, { payouts }) =>
    openAccountShop(parseCreditPolicy(CREDIT), payouts, parseInvoiceSettings(INVOICES)),
})

/** A caller's account: sign-in, credit with its bonds and mandates, the status of payments. */
function openAccountShop(policy: CreditPolicy, payoutPolicy: PayoutPolicy, invoices: InvoiceSettings): OpenShop {
  return (context) => {
    const credit = createCreditEntitlement({
      ...context,
      networks: context.assets.map(({ caip2 }) => caip2),
      provenCaller: (call) => provenCaller(context.proofs, call),
      topUpPath: '/v1/credit/topup',
    })
    return {
      entitlements: [credit],
      entitledSchemes: [createCreditScheme(credit)],
      jobs: [
        {
          name: 'credit.holds',
          intervalMs: 10_000,
          work: () => credit.recover(),
          due: `exists (select from entitled_call where state = 'held' and expires_at < $1)`,
        },
        {
          name: 'bonds.release',
          intervalMs: 10_000,
          work: () => releaseDue(context),
          due: `exists (select from agent_bond where state = 'releasing' and release_at <= $1)`,
        },
      ],
      routes: [
        ...creditRoutes({ ...context, policy, payoutPolicy }),
        ...bondRoutes({ ...context, releaseDelaySeconds: policy.bondReleaseSeconds }),
        ...mandateRoutes(context),
        ...paymentRoutes(context),
        ...disputeRoutes(context),
        ...invoiceRoutes({ ...context, settings: invoices }),
        ...authRoutes(context),
      ],
    }
  }
}
