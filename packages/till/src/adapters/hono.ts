import type { ServerResponse } from 'node:http'
import { Problem } from '../kernel/problem.ts'
import { type PlainResponse, toWebResponse } from '../selling/index.ts'
import type { SellAs, SoldRoute, Till } from '../till.ts'
import { closeAfterRefusal, markAnswered, type NodeRequest, refusalBody, soldRequestOf } from './node-exchange.ts'

type HonoContext = {
  req: { raw: Request; param(): Record<string, string> }
  env: unknown
}
type HonoHandler = (context: HonoContext) => Response | Promise<Response>
type HonoApp = { get(path: string, handler: HonoHandler): unknown }

const bodyErrorHint = 'leave it to the sold route, which checks it by its schema'

/** The handler of a sold route: `app.get('/weather/:city', sell(till, { … }, handler))`. */
export const sell: SellAs<HonoHandler> = (till, declaration, made) => sold(till.sell(declaration, made))

/** The handler of a route that was declared before. */
export function sold(route: SoldRoute): HonoHandler {
  return ({ req, env }) => {
    const params = req.param()
    const exchange = exchangeOf(env)
    return exchange ? answerOver(route, exchange, params) : route(req.raw, { params })
  }
}

/** Serves the documents of a till at the root of an application. */
export function documents(app: HonoApp, till: Till): void {
  for (const route of till.documents()) app.get(route.declaration.path, sold(route))
}

type NodeExchange = { incoming: NodeRequest; outgoing: ServerResponse }

/** On @hono/node-server the socket is seen; on other runtimes hang-up and delivery are not. */
function exchangeOf(env: unknown): NodeExchange | undefined {
  const { incoming, outgoing } = (env ?? {}) as Partial<NodeExchange>
  if (!Array.isArray(incoming?.rawHeaders) || typeof outgoing?.once !== 'function') return undefined
  return { incoming, outgoing }
}

/** Read from the connection itself: the framework makes a Request only for those who ask for it. */
function answerOver(
  route: SoldRoute,
  { incoming, outgoing }: NodeExchange,
  params: Readonly<Record<string, string>>,
): Response | Promise<Response> {
  const request = soldRequestOf(incoming, outgoing, { params, target: incoming.url ?? '/', bodyErrorHint })
  if (request instanceof Problem) return refused(request)
  const written = (plain: PlainResponse) => {
    closeAfterRefusal(incoming, request, plain)
    return responseOf(plain, outgoing)
  }
  const answer = route.answer(request)
  return answer instanceof Promise ? answer.then(written) : written(answer)
}

function responseOf(plain: PlainResponse, outgoing: ServerResponse): Response {
  const { delivered } = plain
  if (!outgoing.headersSent) markAnswered(outgoing)
  if (delivered)
    outgoing.once('finish', () => {
      if (!outgoing.socket?.destroyed) void delivered()
    })
  return toWebResponse(plain)
}

const refused = (problem: Problem): Response =>
  new Response(refusalBody(problem), {
    status: problem.status,
    headers: { 'Content-Type': 'application/problem+json' },
  })
