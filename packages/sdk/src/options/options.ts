import type { LocalAccount } from 'viem'
import type { AssayClient, BuyOptions } from '../client.ts'
import { AssayError } from '../errors.ts'
import { readJson } from '../read-json.ts'
import { signRequest } from '../sign-request.ts'

export type OptionCluster = {
  cluster: string
  name: string
  parent: string | null
  tier: number
  source: 'iab' | 'operator'
  /** Index points with four decimals; null where nothing was published of it. */
  index: string | null
  index_at: string | null
  agents: number | null
  base_at: string | null
  base_share_e12: string | null
  volatility: number | null
  series: number
  synthetic?: boolean
}

export type OptionSeries = {
  symbol: string
  cluster: string
  kind: 'call' | 'put'
  strike: number
  pays_up_to: number
  size_micro: string
  most_micro: string
  last_trade_at: string
  expires_at: string
  state: 'trading' | 'closed' | 'settling' | 'ended'
  premium_micro: string | null
  premium_usd: string | null
  buyable: boolean
  synthetic?: boolean
}

export type OptionSeriesDetail = OptionSeries & {
  index: string | null
  index_at: string | null
  volatility: number
  model_micro: string | null
  greeks: { delta: number; gamma: number; vega: number; theta: number }
  book: { premium_micro: string; quantity: number; offers: number }[]
  vault: { premium_micro: string; quantity: number } | null
  open_interest: number
  open_interest_limit_micro: string
  collateral_micro: string
  history: { at: string; index: string; agents: number | null }[]
  settlement: string | null
  method: Record<string, unknown>
}

export type OptionQuote = {
  quote_id: string
  symbol: string
  quantity: number
  premium_micro: string
  premium_usd: string
  expires_at: string
  jws: string
  synthetic?: boolean
}

export type OptionPurchase = {
  position_id: string
  symbol: string
  wallet: string
  quantity: number
  premium_micro: string
  premium_usd: string
  credited_micro: string
  most_micro: string
  expires_at: string
  refundable: false
  position_url: string
  synthetic?: boolean
}

export type OptionOffer = {
  offer_id: string
  symbol: string
  wallet: string
  quantity: number
  premium_micro: string
  premium_usd: string
  collateral_micro: string
  most_micro: string
  expires_at: string
  state: 'pending'
  note: string
  synthetic?: boolean
}

export type OptionWithdrawal = {
  offer_id: string
  symbol: string
  quantity: number
  left: number
  returned_micro: string
  note: string
}

export type OptionHoldings = {
  wallet: string
  positions: {
    position_id: string
    symbol: string
    quantity: number
    premium_micro: string
    most_micro: string
    state: 'held' | 'open' | 'settled' | 'voided' | 'revoked'
    final: boolean
    expires_at: string
    payout_micro: string | null
    synthetic?: boolean
  }[]
  offers: {
    offer_id: string
    symbol: string
    premium_micro: string
    quantity: number
    free_quantity: number
    sold_quantity: number
    collateral_micro: string
    state: 'pending' | 'live' | 'closed' | 'revoked'
  }[]
  payable_micro: string
  payouts: { id: string; amount_micro: string; state: string; transaction: string | null }[]
}

type Fetching = Pick<AssayClient, 'fetch'>
type Page<T> = { data: T[]; next_cursor: string | null }

const at = (node: string, path: string, query: Record<string, string | undefined> = {}): string => {
  const url = new URL(path, node)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}

const posted = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const pagesMax = 1_000

/** All pages of a list. */
export async function allPages<T>(read: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const rows: T[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await read(cursor)
    rows.push(...page.data)
    cursor = page.next_cursor ?? undefined
    if (cursor === undefined) return rows
  }
  // Half a list would pass for a whole one.
  throw new AssayError('answer_too_large', { detail: `more than ${pagesMax} pages` })
}

export async function listOptionClusters(client: Fetching, node: string): Promise<OptionCluster[]> {
  return allPages(async (cursor) =>
    readJson<Page<OptionCluster>>(await client.fetch(at(node, '/v1/options/clusters', { limit: '500', cursor }))),
  )
}

export type ListOptionSeries = { cluster?: string; kind?: 'call' | 'put'; buyable?: boolean }

export async function listOptionSeries(
  client: Fetching,
  node: string,
  filter: ListOptionSeries = {},
): Promise<OptionSeries[]> {
  const { cluster, kind, buyable } = filter
  const query = { cluster, kind, ...(buyable === undefined ? {} : { buyable: String(buyable) }), limit: '500' }
  return allPages(async (cursor) =>
    readJson<Page<OptionSeries>>(await client.fetch(at(node, '/v1/options/series', { ...query, cursor }))),
  )
}

export async function readOptionSeries(client: Fetching, node: string, symbol: string): Promise<OptionSeriesDetail> {
  return readJson(await client.fetch(at(node, `/v1/options/series/${encodeURIComponent(symbol)}`)))
}

export type OptionOrder = { symbol: string; quantity?: number }

/** A signed price that stands for 60 seconds. */
export async function quoteOption(client: Fetching, node: string, order: OptionOrder): Promise<OptionQuote> {
  return readJson(await client.fetch(at(node, '/v1/options/quote'), posted(order)))
}

/** Pays the premium within the client's policy. Name a quote to pay what it says. */
export async function buyOption(
  client: Fetching,
  node: string,
  order: OptionOrder & { quote_id?: string },
  options?: BuyOptions,
): Promise<OptionPurchase> {
  return readJson(await client.fetch(at(node, '/v1/options/buy'), posted(order), options))
}

/** Pays the full collateral less the premium asked, and puts the contracts into the book. */
export async function writeOption(
  client: Fetching,
  node: string,
  order: OptionOrder & { premium_usd: string },
  options?: BuyOptions,
): Promise<OptionOffer> {
  return readJson(await client.fetch(at(node, '/v1/options/write'), posted(order), options))
}

/** Takes unsold contracts out of the book; the wallet that wrote them signs the request. */
export async function withdrawOption(
  client: Fetching,
  node: string,
  account: Pick<LocalAccount, 'address' | 'signMessage'>,
  order: { offer_id: string; quantity?: number },
): Promise<OptionWithdrawal> {
  const signed = await signRequest(at(node, '/v1/options/withdraw'), posted(order), { account })
  return readJson(
    await client.fetch(signed.url, { method: 'POST', headers: signed.headers, body: await signed.arrayBuffer() }),
  )
}

export async function readOptionHoldings(client: Fetching, node: string, wallet: string): Promise<OptionHoldings> {
  return readJson(await client.fetch(at(node, `/v1/options/positions/${wallet}`)))
}
