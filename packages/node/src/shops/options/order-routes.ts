import type { Micro } from '@assay/protocol/money'
import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import {
  createSlots,
  defineRoute,
  holding,
  jsonAnswer,
  type RouteDeclaration,
  type RouteInput,
} from '../../http/index.ts'
import { readOrderBook } from './describe-market.ts'
import { premiumHighestMicro, premiumLowestMicro } from './domain/contract-terms.ts'
import { exampleDays, exampleOrder, exampleSymbol, exampleTrade } from './examples.ts'
import { placedHere } from './exchange-access.ts'
import { followTrades } from './follow-trades.ts'
import { listDays, listTrades } from './list-trades.ts'
import { bodyMissing } from './market-closed.ts'
import { limitInput, limitOf } from './market-routes.ts'
import { type OrderBody, prepareOrder } from './place-order.ts'
import { daysView, listOf, orderBody, orderView, symbolInput, tradeView } from './schemas.ts'
import type { TradeDeps } from './trade-routes.ts'
import { parsePremium, requireTraded } from './write-contracts.ts'

/** Orders to buy that wait in the book, and what was traded. */
export function orderRoutes(deps: TradeDeps): RouteDeclaration[] {
  return [orderRoute(deps), tradesRoute(deps), daysRoute(deps)]
}

function orderRoute(deps: TradeDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.order',
    area: 'C',
    method: 'POST',
    path: '/v1/options/order',
    summary: 'Order option contracts at a limit; the order waits in the book until it is matched or withdrawn',
    description:
      'The price is the limit of all contracts, held until they are bought. An order pays what earlier offers ask, and its own limit to later ones; the rest is paid back.',
    body: orderBody.optional(),
    output: orderView,
    example: { body: { symbol: exampleSymbol, limit_usd: '76' }, output: exampleOrder },
    next: '/v1/options/withdraw',
    cost: 2,
    access: {
      ...placedHere(deps, 'order'),
      price: {
        kind: 'from_input',
        lowestMicro: premiumLowestMicro,
        highestMicro: premiumHighestMicro * BigInt(deps.settings.quantityMax),
        of: (input) => limitFor(deps, input),
      },
      prepare: async ({ body }, call) => {
        if (body === undefined) throw bodyMissing()
        return prepareOrder(deps, body as OrderBody, call)
      },
    },
  })
}

async function limitFor(deps: TradeDeps, { body }: RouteInput): Promise<Micro> {
  if (body === undefined) return premiumLowestMicro
  const { symbol, limit_usd, quantity = 1 } = body as OrderBody
  const limitMicro = parsePremium(limit_usd, 'limit_usd')
  // What cannot be ordered is said with the price, before anything is paid.
  if (!(await deps.board.read()).has(symbol)) await requireTraded(deps, symbol)
  return limitMicro * BigInt(quantity)
}

const streamType = 'text/event-stream'
/** A number of the database: it has at most 63 bits. */
const isTradeNumber = (text: string) => /^\d{1,19}$/.test(text) && BigInt(text) < 1n << 63n

function tradesRoute(deps: TradeDeps): RouteDeclaration {
  const slots = createSlots({ perCallerMax: 3, allMax: 100 })
  return defineRoute({
    id: 'options.trades',
    area: 'C',
    method: 'GET',
    path: '/v1/options/trades',
    summary: 'What was traded on the options exchange, newest first, or as it happens',
    description:
      'With Accept: text/event-stream, server-sent events: each trade as a signed CloudEvent 1.0, from now on or after Last-Event-ID; with symbol also the book (event book), at the start and whenever it has changed. At most 3 streams per caller.',
    query: z.strictObject({
      symbol: symbolInput.optional(),
      limit: limitInput,
      cursor: z.string().refine(isTradeNumber, 'must be a next_cursor').optional(),
    }),
    representations: ['application/json', streamType],
    output: listOf(tradeView),
    example: { query: { limit: '10' }, output: { data: [exampleTrade], next_cursor: null } },
    next: '/v1/options/series',
    access: {
      kind: 'free',
      handle: async ({ query }, call) => {
        const wanted = query.symbol === undefined ? {} : { symbol: query.symbol }
        if (call.representation !== streamType)
          return jsonAnswer(
            await listTrades(deps.database, {
              ...wanted,
              limit: limitOf(query.limit),
              ...(query.cursor === undefined ? {} : { before: BigInt(query.cursor) }),
            }),
          )
        const last = call.headers.get('last-event-id') || undefined
        if (last !== undefined && !isTradeNumber(last))
          throw new Problem('bad_request', { detail: 'Last-Event-ID is not the number of a trade.' })
        const trades = followTrades(deps, {
          ...wanted,
          ...(last === undefined ? {} : { after: BigInt(last) }),
          ...(query.symbol === undefined ? {} : { readOrderBook: () => readOrderBook(deps, query.symbol) }),
        })
        return {
          status: 200,
          contentType: streamType,
          body: holding(slots.take(call.remoteAddress), trades),
          headers: { 'X-Accel-Buffering': 'no' },
        }
      },
    },
  })
}

function daysRoute(deps: TradeDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.days',
    area: 'C',
    method: 'GET',
    path: '/v1/options/series/:symbol/days',
    summary: 'Volume and open interest of one option series by day, and what it settled at',
    params: z.strictObject({ symbol: symbolInput }),
    output: daysView,
    example: { params: { symbol: exampleSymbol }, output: exampleDays },
    next: '/v1/options/trades',
    access: { kind: 'free', handle: async ({ params }) => jsonAnswer(await listDays(deps.database, params.symbol)) },
  })
}
