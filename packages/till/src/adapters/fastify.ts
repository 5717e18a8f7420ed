import type { ServerResponse } from 'node:http'
import type { SoldRoute, Till } from '../till.ts'
import { answerOver, type NodeRequest } from './node-exchange.ts'

type FastifyRequest = { raw: NodeRequest; params: unknown; originalUrl: string }
type FastifyReply = { raw: ServerResponse; hijack(): unknown }
type FastifyRoute = {
  method: string | string[]
  url: string
  exposeHeadRoute: boolean
  handler(request: FastifyRequest, reply: FastifyReply): void
}
type FastifyScope = {
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: '*',
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): void
  route(route: FastifyRoute): unknown
}

const bodyErrorHint = 'register the routes with sold(), which leaves the body to the till'

/**
 * A plugin with every route the till sells at that time, and its documents: `app.register(sold(till))`. It has its
 * own scope, so that no parser of the application reads a body before the till; replies go past the hooks that would
 * change what was signed.
 */
export function sold(till: Till, routes: readonly SoldRoute[] = [...till.sold(), ...till.documents()]) {
  return async (scope: FastifyScope): Promise<void> => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const route of routes) {
      const { method, path } = route.declaration
      scope.route({
        method: method === 'GET' ? ['GET', 'HEAD'] : method,
        url: path,
        exposeHeadRoute: false,
        handler: ({ raw, params, originalUrl }, reply) => {
          reply.hijack()
          const call = { params: params as Record<string, string>, target: originalUrl, bodyErrorHint }
          void answerOver(route, raw, reply.raw, call)
        },
      })
    }
  }
}
