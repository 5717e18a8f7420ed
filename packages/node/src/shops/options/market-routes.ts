import { type Address, parseAddress } from '@assay/protocol/address'
import { walletParams } from '@assay/till/kernel/address-text'
import { fieldProblem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import { describeHoldings, findSettlement, listInputs, listSettlements } from './describe-holdings.ts'
import { describeOneSeries, listClusters, listMarket, type MarketDeps } from './describe-market.ts'
import { describeVault } from './describe-vault.ts'
import {
  exampleCluster,
  exampleDetail,
  exampleHoldings,
  exampleInput,
  exampleSeries,
  exampleSettlement,
  exampleSymbol,
  exampleVault,
  exampleWallet,
} from './examples.ts'
import {
  clusterView,
  inputsView,
  listOf,
  positionsView,
  seriesDetail,
  seriesView,
  settlementView,
  symbolInput,
  vaultView,
} from './schemas.ts'

export const limitInput = z
  .string()
  .regex(/^(?:[1-9]\d?|[1-4]\d\d|500)$/, 'must be 1 to 500')
  .optional()
const cursorInput = z.string().max(200).optional()
const timeInput = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/, 'must be a time such as 2026-12-04T08:00:00Z')

export const limitOf = (text: string | undefined, fallback = 100): number =>
  text === undefined ? fallback : Number(text)

/** All that can be seen of the exchange without paying. */
export function marketRoutes(deps: MarketDeps): RouteDeclaration[] {
  return [
    clustersRoute(deps),
    seriesRoute(deps),
    oneSeriesRoute(deps),
    positionsRoute(deps),
    vaultRoute(deps),
    settlementsRoute(deps),
    oneSettlementRoute(deps),
    inputsRoute(deps),
  ]
}

function clustersRoute(deps: MarketDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.clusters',
    area: 'C',
    method: 'GET',
    path: '/v1/options/clusters',
    summary: 'Topic clusters with their demand index and how many option series are listed on each',
    query: z.strictObject({ limit: limitInput, cursor: cursorInput }),
    output: listOf(clusterView),
    example: { query: { limit: '10' }, output: { data: [exampleCluster], next_cursor: null } },
    next: '/v1/options/series',
    cacheSeconds: 2,
    access: {
      kind: 'free',
      handle: async ({ query }) =>
        jsonAnswer(
          await listClusters(deps, { limit: limitOf(query.limit), ...(query.cursor ? { after: query.cursor } : {}) }),
        ),
    },
  })
}

function seriesRoute(deps: MarketDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.series',
    main: true,
    area: 'C',
    method: 'GET',
    path: '/v1/options/series',
    summary: 'Option series that are listed, nearest expiry first, with the premium of one contract now',
    query: z.strictObject({
      cluster: z.string().max(40).optional(),
      kind: z.enum(['call', 'put']).optional(),
      buyable: z.enum(['true', 'false']).optional().describe('true: only those that can be bought now.'),
      limit: limitInput,
      cursor: cursorInput,
    }),
    output: listOf(seriesView),
    example: { query: { buyable: 'true' }, output: { data: [exampleSeries], next_cursor: null } },
    next: '/v1/options/quote',
    cacheSeconds: 1,
    access: {
      kind: 'free',
      handle: async ({ query }) =>
        jsonAnswer(
          await listMarket(deps, {
            ...(query.cluster === undefined ? {} : { cluster: query.cluster }),
            ...(query.kind === undefined ? {} : { kind: query.kind }),
            buyable: query.buyable === 'true',
            limit: limitOf(query.limit),
            ...(query.cursor === undefined ? {} : { after: query.cursor }),
          }),
        ),
    },
  })
}

function oneSeriesRoute(deps: MarketDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.series.show',
    area: 'C',
    method: 'GET',
    path: '/v1/options/series/:symbol',
    summary: 'One option series: greeks, order book, vault, collateral and the history of its index',
    params: z.strictObject({ symbol: symbolInput }),
    output: seriesDetail,
    example: { params: { symbol: exampleSymbol }, output: exampleDetail },
    next: '/v1/options/quote',
    cacheSeconds: 1,
    access: { kind: 'free', handle: async ({ params }) => jsonAnswer(await describeOneSeries(deps, params.symbol)) },
  })
}

function positionsRoute(deps: MarketDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.positions',
    area: 'C',
    method: 'GET',
    path: '/v1/options/positions/:wallet',
    summary: 'What a wallet holds, offers and is owed on the options exchange',
    description: 'A wallet never seen is 200 with nothing in it.',
    params: walletParams,
    output: positionsView,
    example: { params: { wallet: exampleWallet }, output: exampleHoldings },
    next: '/v1/options/settlements',
    access: {
      kind: 'free',
      handle: async ({ params }) => jsonAnswer(await describeHoldings(deps, parseAddress(params.wallet) as Address)),
    },
  })
}

function vaultRoute(deps: MarketDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.vault',
    area: 'C',
    method: 'GET',
    path: '/v1/options/vault',
    summary: 'The operator’s vault: what it quotes, what it holds, its profit and limits, and why it sells nothing',
    output: vaultView,
    example: { output: exampleVault },
    next: '/v1/options/series',
    cost: 5,
    cacheSeconds: 2,
    access: { kind: 'free', handle: async () => jsonAnswer(await describeVault(deps)) },
  })
}

/** `<time> <name>`, as every cursor of this shop is written. */
function readCursor(text: string | undefined): { at: Date; name: string } | undefined {
  if (text === undefined) return undefined
  const [, at = '', name = ''] = /^(\S{10,30}) (\S{1,80})$/.exec(text) ?? []
  const ms = Date.parse(at)
  if (Number.isNaN(ms)) throw fieldProblem('query.cursor', 'is not valid: start again without it')
  return { at: new Date(ms), name }
}

function settlementsRoute(deps: MarketDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.settlements',
    area: 'C',
    method: 'GET',
    path: '/v1/options/settlements',
    summary: 'Settled and voided option series, newest first, each with all that is needed to replay it',
    query: z.strictObject({ limit: limitInput, cursor: cursorInput }),
    output: listOf(settlementView),
    example: { query: { limit: '10' }, output: { data: [exampleSettlement], next_cursor: null } },
    next: '/v1/options/series',
    access: {
      kind: 'free',
      handle: async ({ query }) => {
        const cursor = readCursor(query.cursor)
        return jsonAnswer(
          await listSettlements(deps.database, {
            limit: limitOf(query.limit, 20),
            ...(cursor ? { after: { at: cursor.at, symbol: cursor.name } } : {}),
          }),
        )
      },
    },
  })
}

function oneSettlementRoute(deps: MarketDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.settlements.show',
    area: 'C',
    method: 'GET',
    path: '/v1/options/settlements/:symbol',
    summary: 'How one series was settled: value, payoff, signed document and where its inputs are',
    params: z.strictObject({ symbol: symbolInput }),
    output: settlementView,
    example: { params: { symbol: exampleSymbol }, output: exampleSettlement },
    next: '/v1/options/inputs',
    access: {
      kind: 'free',
      handle: async ({ params }) => jsonAnswer(await findSettlement(deps.database, params.symbol)),
    },
  })
}

function inputsRoute(deps: MarketDeps): RouteDeclaration {
  return defineRoute({
    id: 'options.inputs',
    area: 'C',
    method: 'GET',
    path: '/v1/options/inputs',
    summary: 'The published figures that moved the indexes, in the order in which they are added up',
    description: 'Buckets that end later than `after` and begin before `up_to`; 2,000 rows a page.',
    query: z.strictObject({ after: timeInput, up_to: timeInput, cursor: cursorInput }),
    output: inputsView,
    example: {
      query: { after: '2026-12-01T08:00:00Z', up_to: '2026-12-04T08:00:00Z' },
      output: { data: [exampleInput], next_cursor: null },
    },
    next: '/v1/options/settlements',
    cost: 3,
    access: {
      kind: 'free',
      handle: async ({ query }) => {
        const cursor = readCursor(query.cursor)
        return jsonAnswer(
          await listInputs(deps.database, {
            after: new Date(query.after),
            upTo: new Date(query.up_to),
            ...(cursor ? { cursor: { at: cursor.at, cluster: cursor.name } } : {}),
          }),
        )
      },
    },
  })
}
