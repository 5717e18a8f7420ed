import type { LocalAccount } from 'viem'
import {
  type AnswerOf,
  allPages,
  ask,
  askSigned,
  type BodyOf,
  given,
  type QueryOf,
  type RowOf,
} from '../call-operation.ts'
import type { AssayClient, BuyOptions } from '../client.ts'

export type OptionCluster = RowOf<'options.clusters'>
export type OptionSeries = RowOf<'options.series'>
export type OptionSeriesDetail = AnswerOf<'options.series.show'>
export type OptionQuote = AnswerOf<'options.quote'>
export type OptionPurchase = AnswerOf<'options.buy'>
export type OptionOffer = AnswerOf<'options.write'>
export type OptionLimitOrder = AnswerOf<'options.order'>
export type OptionTrade = RowOf<'options.trades'>
export type OptionDays = AnswerOf<'options.days'>
export type OptionVault = AnswerOf<'options.vault'>
export type OptionWithdrawal = AnswerOf<'options.withdraw'>
export type OptionBid = AnswerOf<'options.bid'>
export type OptionClosing = AnswerOf<'options.close'>
export type OptionHoldings = AnswerOf<'options.positions'>
export type OptionOrder = BodyOf<'options.quote'>
export type ListOptionSeries = Pick<QueryOf<'options.series'>, 'cluster' | 'kind'> & { buyable?: boolean }

type Fetching = Pick<AssayClient, 'fetch'>
const rowsPerPage = 500

export function listOptionClusters(client: Fetching, node: string): Promise<OptionCluster[]> {
  return allPages((cursor) =>
    ask(client, node, 'options.clusters', { query: { limit: rowsPerPage, ...given({ cursor }) } }),
  )
}

export function listOptionSeries(
  client: Fetching,
  node: string,
  { buyable, ...filter }: ListOptionSeries = {},
): Promise<OptionSeries[]> {
  const shown: QueryOf<'options.series'> = buyable === undefined ? {} : { buyable: buyable ? 'true' : 'false' }
  const query = { ...filter, ...shown, limit: rowsPerPage }
  return allPages((cursor) => ask(client, node, 'options.series', { query: { ...query, ...given({ cursor }) } }))
}

export function readOptionSeries(client: Fetching, node: string, symbol: string): Promise<OptionSeriesDetail> {
  return ask(client, node, 'options.series.show', { params: { symbol } })
}

/** A signed price: honoured for `seconds_left`, or refused, never replaced by another. */
export function quoteOption(client: Fetching, node: string, order: OptionOrder): Promise<OptionQuote> {
  return ask(client, node, 'options.quote', { body: order })
}

/** Pays the premium of a quote within the client's policy: the one named, or one that is asked for first. */
export async function buyOption(
  client: Fetching,
  node: string,
  order: OptionOrder & { quote_id?: string },
  options?: BuyOptions,
): Promise<OptionPurchase> {
  const { quote_id = (await quoteOption(client, node, order)).quote_id } = order
  return ask(client, node, 'options.buy', { body: { ...order, quote_id } }, options)
}

/** Pays the full collateral less the premium asked, and puts the contracts into the book. */
export function writeOption(
  client: Fetching,
  node: string,
  order: BodyOf<'options.write'>,
  options?: BuyOptions,
): Promise<OptionOffer> {
  return ask(client, node, 'options.write', { body: order }, options)
}

/** Pays the limit of all contracts and puts an order to buy into the book. */
export function orderOption(
  client: Fetching,
  node: string,
  order: BodyOf<'options.order'>,
  options?: BuyOptions,
): Promise<OptionLimitOrder> {
  return ask(client, node, 'options.order', { body: order }, options)
}

/** What was traded, newest first: one page. */
export function listOptionTrades(
  client: Fetching,
  node: string,
  page: QueryOf<'options.trades'> = {},
): Promise<AnswerOf<'options.trades'>> {
  return ask(client, node, 'options.trades', { query: page })
}

/** Volume and open interest of a series by day, and what it settled at. */
export function readOptionDays(client: Fetching, node: string, symbol: string): Promise<OptionDays> {
  return ask(client, node, 'options.days', { params: { symbol } })
}

export function readOptionVault(client: Fetching, node: string): Promise<OptionVault> {
  return ask(client, node, 'options.vault', {})
}

/** Withdraws unsold contracts, or an order to buy or to sell, from the book; the wallet that placed them signs the request. */
export function withdrawOption(
  client: Fetching,
  node: string,
  account: Pick<LocalAccount, 'address' | 'signMessage'>,
  order: BodyOf<'options.withdraw'>,
): Promise<OptionWithdrawal> {
  return askSigned(client, 'options.withdraw', { body: order }, { node, account })
}

/** A signed bid of the vault for contracts of a position. */
export function bidForOption(client: Fetching, node: string, order: BodyOf<'options.bid'>): Promise<OptionBid> {
  return ask(client, node, 'options.bid', { body: order })
}

/**
 * Sells at a bid of the vault (`bid_id`) or to orders of the book (`limit_usd`, with `rest` also to later ones); the
 * holder's wallet signs the request.
 */
export function closeOption(
  client: Fetching,
  node: string,
  account: Pick<LocalAccount, 'address' | 'signMessage'>,
  order: BodyOf<'options.close'>,
): Promise<OptionClosing> {
  return askSigned(client, 'options.close', { body: order }, { node, account })
}

export function readOptionHoldings(client: Fetching, node: string, wallet: string): Promise<OptionHoldings> {
  return ask(client, node, 'options.positions', { params: { wallet } })
}
