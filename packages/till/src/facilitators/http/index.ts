import { withBreaker } from '../breaker.ts'
import type { FacilitatorKind } from '../facilitator-kind.ts'
import { createHttpFacilitator } from './http-facilitator.ts'

/** Any x402 facilitator by its address. */
export const http: FacilitatorKind = {
  name: 'url',
  chosenBy: 'the URL of an x402 facilitator',
  takes: (choice) => /^https?:\/\//.test(choice) && URL.canParse(choice),
  variables: {},
  readSettings: (choice) => ({ url: choice }),
  // Its host names it: what one holds is distinguished from what another holds.
  open: async ({ url = '' }, ports) =>
    withBreaker(createHttpFacilitator({ name: new URL(url).host, baseUrl: url, ...ports }), ports),
}
