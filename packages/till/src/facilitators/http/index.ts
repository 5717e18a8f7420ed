import { isPrivateUrl } from '../../kernel/private-url.ts'
import { withBreaker } from '../breaker.ts'
import { declareFacilitator, type FacilitatorOption } from '../facilitator-kind.ts'
import { createHttpFacilitator } from './http-facilitator.ts'

/** Any x402 facilitator by its address. */
export const http = declareFacilitator({
  name: 'http',
  chosenBy: 'the URL of an x402 facilitator',
  takes: (choice) => /^https?:\/\//.test(choice) && URL.canParse(choice),
  option: 'http(url)',
  choose: (url: string | undefined): FacilitatorOption => ({ choice: { kind: 'http', settings: { url: url ?? '' } } }),
  findProblems: ({ url = '' }, demo) => {
    if (!URL.canParse(url)) return ['http(url) needs a URL']
    return demo || isPrivateUrl(new URL(url)) ? [] : ['http(url) must be https']
  },
  variables: {},
  readSettings: (choice) => ({ url: choice }),
  // Its host names it: what one holds is distinguished from what another holds.
  open: async ({ url = '' }, ports) =>
    withBreaker(createHttpFacilitator({ name: new URL(url).host, baseUrl: url, ...ports }), ports),
})
