import type { Address } from '@assay/protocol/address'
import { formatUsd } from '@assay/protocol/money'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import { bidFor, type Closed, closeContracts } from './close-contracts.ts'
import { exampleBid, exampleClosed } from './examples.ts'
import { signedOnExchange } from './exchange-access.ts'
import { bidBody, bidView, closeBody, closedView } from './schemas.ts'
import { sellContracts } from './sell-contracts.ts'
import type { TradeDeps } from './trade-routes.ts'
import { parsePremium } from './write-contracts.ts'

/** The way out before the expiry: a signed bid of the vault, and the closing that names it. */
export function closeRoutes(deps: TradeDeps): RouteDeclaration[] {
  return [bidRoute(deps), closeRoute(deps)]
}

function bidRoute(deps: TradeDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.bid',
    area: 'C',
    method: 'POST',
    path: '/v1/options/bid',
    summary: 'A signed bid of the vault for contracts of a position, valid for 60 seconds',
    description:
      '95 % of the model price, at the lower of the index of now and its median of a window, and never more than was paid. The vault buys back what it wrote.',
    body: bidBody,
    output: bidView,
    example: { body: { position_id: exampleBid.position_id }, output: exampleBid },
    next: '/v1/options/close',
    access: {
      kind: 'free',
      handle: async ({ body }) => {
        await deps.requireTrading()
        const bid = await bidFor(deps, body.position_id, body.quantity)
        const { id, terms } = deps.quotes.issue({
          symbol: body.position_id,
          quantity: bid.quantity,
          totalMicro: bid.totalMicro,
        })
        const shown = {
          bid_id: id,
          position_id: body.position_id,
          symbol: bid.symbol,
          quantity: bid.quantity,
          bid_micro: bid.totalMicro.toString(),
          bid_usd: formatUsd(bid.totalMicro),
          seconds_left: Math.floor((terms.expiresAtMs - deps.clock.nowMs()) / 1000),
          expires_at: toRfc3339(terms.expiresAtMs),
        }
        const jws = deps.jws.sign({ type: 'assay.options.bid/v1', ...shown })
        return jsonAnswer({ ...shown, jws, ...(bid.synthetic ? { synthetic: true } : {}) })
      },
    },
  })
}

function closeRoute(deps: TradeDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.close',
    area: 'C',
    method: 'POST',
    path: '/v1/options/close',
    summary: 'Sell contracts of a position before they expire, at a signed bid of the vault or to orders of the book',
    description:
      'The request is signed (ERC-8128) by the wallet that holds them. With bid_id exactly the bid is paid out, or nothing. With limit_usd they go to the best orders that pay as much, as many as there are takers for, and with rest the others wait in the book at the limit; what is more than was paid for them is paid when the series is settled.',
    body: closeBody,
    output: closedView,
    example: { body: { position_id: exampleBid.position_id, bid_id: exampleBid.bid_id }, output: exampleClosed },
    next: '/v1/options/series',
    cost: 5,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async ({ body }, call) => {
        await deps.requireTrading()
        const holder = await signedOnExchange(deps, call)
        const done = await close(deps, body, holder)
        deps.board.changed()
        return jsonAnswer({
          position_id: body.position_id,
          symbol: done.symbol,
          quantity: done.quantity,
          left: done.left,
          waiting: done.waiting ?? 0,
          paid_micro: done.paidMicro.toString(),
          paid_usd: formatUsd(done.paidMicro),
          later_micro: done.laterMicro.toString(),
          note:
            done.quantity === 0
              ? 'Nothing was sold yet. POST /v1/options/withdraw with the position as offer_id withdraws the order.'
              : 'It is sent to your wallet with the next payout.',
        })
      },
    },
  })
}

type CloseBody = {
  position_id: string
  bid_id?: string | undefined
  limit_usd?: string | undefined
  quantity?: number | undefined
  rest?: boolean | undefined
}

function close(deps: TradeDeps, body: CloseBody, holder: Address): Promise<Closed & { waiting?: number }> {
  const positionId = body.position_id
  if (body.bid_id === undefined)
    return sellContracts(deps, {
      positionId,
      holder,
      limitMicro: parsePremium(body.limit_usd ?? '', 'limit_usd'),
      quantity: body.quantity,
      rest: body.rest,
    })
  const { quantity, totalMicro } = deps.quotes.open(body.bid_id, positionId)
  return closeContracts(deps, { bidId: body.bid_id, positionId, holder, quantity, totalMicro })
}
