import type { OpenShop } from '@assay/node/http'
import { mandateRoutes } from '../../../../node/src/shops/account/mandate-routes.ts'

export { type Mandate, mandateId, mandateStatement, mandateTypes } from './mandate-statement.ts'
export { type MandateState, type MandateView, openMandates } from './store.ts'

/** Automated payment authorizations: signed once by the owner of credit, drawn on by somebody else. */
export function openMandatesShop(): OpenShop {
  return (context) => ({ routes: mandateRoutes(context) })
}
