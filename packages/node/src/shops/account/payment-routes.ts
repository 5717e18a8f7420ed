import { paymentStatusRoute } from '@assay/till/documents'
import type { Sql } from '@assay/till/store/database'
import { defineRoute, type RouteDeclaration } from '../../http/index.ts'

/** Status of a payment: state only, never the answer. */
export function paymentRoutes(deps: { sql: Sql }): RouteDeclaration[] {
  return [defineRoute({ ...paymentStatusRoute(deps.sql, '/v1/payments/:id'), main: true, area: 'core', next: '/' })]
}
