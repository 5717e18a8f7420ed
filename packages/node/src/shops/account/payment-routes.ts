import { paymentStatusRoute } from '@assay/till/documents'
import type { Database } from '@assay/till/store/database'
import { defineRoute, type RouteDeclaration } from '../../http/index.ts'

/** Status of a payment: state only, never the answer. */
export function paymentRoutes(deps: { database: Database }): RouteDeclaration[] {
  return [
    defineRoute({ ...paymentStatusRoute(deps.database, '/v1/payments/:id'), main: true, area: 'core', next: '/' }),
  ]
}
