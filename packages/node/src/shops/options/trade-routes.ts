import { formatUsd, type Micro } from '@assay/protocol/money'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import type { ProofDeps } from '@assay/till/proofs'
import { defineRoute, jsonAnswer, type RouteDeclaration, type RouteInput, type Since } from '../../http/index.ts'
import type { Board } from './board.ts'
import { type BuyBody, type BuyDeps, commitBuys, prepareBuy, revokeBuy } from './buy-contracts.ts'
import { closeRoutes } from './close-routes.ts'
import { collateralRatioMax, premiumHighestMicro, premiumLowestMicro } from './domain/contract-terms.ts'
import {
  exampleOffer,
  exampleOfferId,
  examplePurchase,
  exampleQuote,
  exampleSymbol,
  exampleWithdrawn,
} from './examples.ts'
import { placedHere, signedOnExchange, soldHere } from './exchange-access.ts'
import { bodyMissing } from './market-closed.ts'
import { orderRoutes } from './order-routes.ts'
import { optionProblems } from './problems.ts'
import { withdrawSell } from './rest-sell.ts'
import {
  buyBody,
  offerView,
  purchaseView,
  quoteBody,
  quoteView,
  withdrawBody,
  withdrawnView,
  writeBody,
} from './schemas.ts'
import { withdraw } from './withdraw.ts'
import { collateralOf, parsePremium, prepareWrite, requireTraded, type WriteBody } from './write-contracts.ts'

export type TradeDeps = BuyDeps & {
  board: Board
  proofs: ProofDeps
  since: Since
  apiUrl: string
  stopped: AbortSignal
}

export function tradeRoutes(deps: TradeDeps): RouteDeclaration[] {
  return [
    quoteRoute(deps),
    buyRoute(deps),
    writeRoute(deps),
    withdrawRoute(deps),
    ...orderRoutes(deps),
    ...closeRoutes(deps),
  ]
}

function quoteRoute(deps: TradeDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.quote',
    area: 'C',
    method: 'POST',
    path: '/v1/options/quote',
    summary: 'A signed quote for option contracts, valid for 60 seconds',
    description:
      'A promise: named as quote_id it is bought at exactly this premium within seconds_left, or refused with 409; never at another premium, also not at a lower one.',
    body: quoteBody,
    output: quoteView,
    example: { body: { symbol: exampleSymbol }, output: exampleQuote },
    next: '/v1/options/buy',
    access: {
      kind: 'free',
      handle: async ({ body }) => {
        await deps.requireTrading()
        const quantity = body.quantity ?? 1
        deps.board.changed()
        const ask = await deps.board.ask(body.symbol, quantity)
        const { id, terms } = deps.quotes.issue({ symbol: body.symbol, quantity, ...ask })
        const series = (await deps.board.read()).get(body.symbol)?.series
        if (!series) throw new Problem(optionProblems.series_unknown)
        const shown = {
          quote_id: id,
          symbol: terms.symbol,
          quantity,
          premium_micro: terms.totalMicro.toString(),
          premium_usd: formatUsd(terms.totalMicro),
          size_micro: series.sizeMicro.toString(),
          seconds_left: Math.floor((terms.expiresAtMs - deps.clock.nowMs()) / 1000),
          expires_at: toRfc3339(terms.expiresAtMs),
        }
        const jws = deps.jws.sign({ type: 'assay.options.quote/v1', ...shown })
        return jsonAnswer({ ...shown, jws, ...(series.synthetic ? { synthetic: true } : {}) })
      },
    },
  })
}

function buyRoute(deps: TradeDeps): RouteDeclaration {
  const { settings } = deps
  return defineRoute({
    id: 'options.buy',
    area: 'C',
    method: 'POST',
    path: '/v1/options/buy',
    summary: 'Buy a call or a put on a topic cluster; the premium is paid up front and not refundable',
    description:
      'European, cash settled in USDC, capped, fully collateralised. Only a void series returns the premium.',
    body: buyBody.optional(),
    output: purchaseView,
    example: { body: { symbol: exampleSymbol }, output: examplePurchase },
    next: '/v1/options/series',
    cost: 2,
    access: {
      ...soldHere(deps),
      price: {
        kind: 'from_input',
        lowestMicro: premiumLowestMicro,
        highestMicro: premiumHighestMicro * BigInt(settings.quantityMax),
        of: (input) => premiumFor(deps, input),
      },
      prepare: async ({ body }, call) => {
        if (body === undefined) throw bodyMissing()
        const prepared = await prepareBuy(deps, body as BuyBody, call)
        deps.board.changed()
        return prepared
      },
      commitMany: (tx, sales) => commitBuys(deps, tx, sales),
      revoke: (tx, sale) => revokeBuy(deps, tx, sale),
    },
  })
}

/** The premium of the quote, or of the book as it is now; a request without a body gets that of the cheapest contract. */
async function premiumFor(deps: TradeDeps, { body }: RouteInput): Promise<Micro> {
  if (body === undefined) return (await deps.board.cheapest())?.premiumMicro ?? premiumLowestMicro
  const { symbol, quantity = 1, quote_id } = body as BuyBody
  if (quote_id !== undefined) return deps.quotes.open(quote_id, symbol, quantity).totalMicro
  return (await deps.board.ask(symbol, quantity)).totalMicro
}

const collateralLowestMicro = 1_000_000n

function writeRoute(deps: TradeDeps): RouteDeclaration {
  const quantityMax = BigInt(deps.settings.quantityMax)
  return defineRoute({
    id: 'options.write',
    area: 'C',
    method: 'POST',
    path: '/v1/options/write',
    summary: 'Write option contracts: post their full collateral and offer them at your premium',
    description:
      'The price is the collateral: the most a contract can pay, less the premium you ask. Unsold contracts can be withdrawn.',
    body: writeBody.optional(),
    output: offerView,
    example: { body: { symbol: exampleSymbol, premium_usd: '80', quantity: 1 }, output: exampleOffer },
    next: '/v1/options/series',
    cost: 2,
    access: {
      ...placedHere(deps, 'offer'),
      price: {
        kind: 'from_input',
        lowestMicro: collateralLowestMicro,
        highestMicro: premiumHighestMicro * collateralRatioMax * quantityMax,
        of: (input) => collateralFor(deps, input),
      },
      prepare: async ({ body }, call) => {
        if (body === undefined) throw bodyMissing()
        return prepareWrite(deps, body as WriteBody, call)
      },
    },
  })
}

async function collateralFor(deps: TradeDeps, { body }: RouteInput): Promise<Micro> {
  if (body === undefined) {
    const caps = [...(await deps.board.read()).values()].map(({ series }) => series.capMicro - premiumHighestMicro)
    const [first = collateralLowestMicro, ...others] = caps.filter((micro) => micro > collateralLowestMicro)
    return others.reduce((least, micro) => (micro < least ? micro : least), first)
  }
  const { symbol, premium_usd, quantity = 1 } = body as WriteBody
  const premiumMicro = parsePremium(premium_usd)
  const known = (await deps.board.read()).get(symbol)?.series ?? (await requireTraded(deps, symbol))
  const micro = collateralOf(known, premiumMicro, quantity)
  if (micro < collateralLowestMicro)
    throw new Problem(optionProblems.premium_out_of_band, {
      detail: 'The premium is almost all that the contract can pay.',
    })
  return micro
}

function withdrawRoute(deps: TradeDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.withdraw',
    area: 'C',
    method: 'POST',
    path: '/v1/options/withdraw',
    summary: 'Withdraw the collateral of contracts that nobody bought, or an order to buy or to sell',
    description:
      'The request is signed (ERC-8128) by the wallet that wrote, ordered or holds them; an order to sell is named by its position. What is sold or reserved stays locked until it ends.',
    body: withdrawBody,
    output: withdrawnView,
    example: { body: { offer_id: exampleOfferId }, output: exampleWithdrawn },
    next: '/v1/options/series',
    cost: 5,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async ({ body }, call) => {
        const writer = await signedOnExchange(deps, call)
        const wanted = { offerId: body.offer_id, writer, quantity: body.quantity }
        const done = await (wanted.offerId.startsWith('opt_') ? withdrawSell : withdraw)(deps, wanted)
        deps.board.changed()
        return jsonAnswer({
          offer_id: body.offer_id,
          symbol: done.symbol,
          quantity: done.quantity,
          left: done.left,
          returned_micro: done.returnedMicro.toString(),
          note: 'It is sent to your wallet with the next payout.',
        })
      },
    },
  })
}
