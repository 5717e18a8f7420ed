import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Till } from '../till.ts'
import { answerOver } from './node-exchange.ts'

const bodyErrorHint = 'leave the request stream to the till'

/**
 * A listener for `http.createServer` that answers every sold route and the documents of the till; everything else is
 * left to `next`, or answered 404.
 */
export function listener(till: Till, next: (request: IncomingMessage, response: ServerResponse) => void = notFound) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const target = request.url ?? '/'
    const mark = target.indexOf('?')
    const found = till.match(request.method ?? '', mark < 0 ? target : target.slice(0, mark))
    if (found) void answerOver(found.route, request, response, { params: found.params, target, bodyErrorHint })
    else next(request, response)
  }
}

function notFound(_request: IncomingMessage, response: ServerResponse): void {
  response.statusCode = 404
  response.end()
}
