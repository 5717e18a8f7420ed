import type { ServerResponse } from 'node:http'
import type { SellAs, SoldRoute, Till, WebCall } from '../till.ts'
import { goneSignal } from './node-exchange.ts'

type HonoContext = {
  req: { raw: Request; param(): Record<string, string> }
  env: unknown
}
type HonoHandler = (context: HonoContext) => Promise<Response>
type HonoApp = { get(path: string, handler: HonoHandler): unknown }

/** The handler of a sold route: `app.get('/weather/:city', sell(till, { … }, handler))`. */
export const sell: SellAs<HonoHandler> = (till, declaration, made) => sold(till.sell(declaration, made))

/** The handler of a route that was declared before. */
export function sold(route: SoldRoute): HonoHandler {
  return ({ req, env }) => route(req.raw, { params: req.param(), ...socketOf(env) })
}

/** Serves the documents of a till at the root of an application. */
export function documents(app: HonoApp, till: Till): void {
  for (const route of till.documents()) app.get(route.declaration.path, sold(route))
}

/** On @hono/node-server the socket is seen; on other runtimes hang-up and delivery are not. */
function socketOf(env: unknown): Pick<WebCall, 'clientGone' | 'remoteAddress' | 'onDelivery'> {
  const outgoing = (env as { outgoing?: ServerResponse } | undefined)?.outgoing
  if (typeof outgoing?.once !== 'function') return {}
  return {
    get clientGone() {
      return goneSignal(outgoing)
    },
    remoteAddress: outgoing.socket?.remoteAddress ?? '',
    onDelivery: (delivered) => {
      outgoing.once('finish', () => {
        if (!outgoing.socket?.destroyed) delivered()
      })
    },
  }
}
