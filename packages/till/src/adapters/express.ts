import type { ServerResponse } from 'node:http'
import type { SellAs, SoldRoute, Till } from '../till.ts'
import { answerOver, type NodeRequest } from './node-exchange.ts'

type ExpressRequest = NodeRequest & { originalUrl: string; params: Readonly<Record<string, string | string[]>> }
type ExpressHandler = (request: ExpressRequest, response: ServerResponse) => void
type ExpressApp = { get(path: string, handler: ExpressHandler): unknown }

const bodyErrorHint =
  'declare the sold route before express.json(), or keep them: express.json({ verify: (request, _response, bytes) => { request.rawBody = bytes } })'

/** The handler of a sold route: `app.get('/weather/:city', sell(till, { … }, handler))`. */
export const sell: SellAs<ExpressHandler> = (till, declaration, made) => sold(till.sell(declaration, made))

/** The handler of a route that was declared before. */
export function sold(route: SoldRoute): ExpressHandler {
  return (request, response) => {
    const params = Object.fromEntries(Object.entries(request.params).map(([name, value]) => [name, String(value)]))
    void answerOver(route, request, response, { params, target: request.originalUrl, bodyErrorHint })
  }
}

/** Serves the documents of a till at the root of an application. */
export function documents(app: ExpressApp, till: Till): void {
  for (const route of till.documents()) app.get(route.declaration.path, sold(route))
}
