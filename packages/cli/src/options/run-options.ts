import {
  bidForOption,
  closeOption,
  createAssayClient,
  formatUsd,
  listOptionClusters,
  listOptionSeries,
  listOptionSettlements,
  quoteOption,
  readOptionHoldings,
  readOptionSeries,
  replayOptionPrice,
  replayOptionSettlement,
  withdrawOption,
} from '@assay/sdk'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import { type BuyOptions, runBuy } from '../buy/run-buy.ts'
import type { CommandContext } from '../command-context.ts'
import { exitCodes, usageError } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'
import { seriesTable } from './series-table.ts'

/** Reads need no wallet, and this one never signs. */
export const reader = () =>
  createAssayClient({ account: privateKeyToAccount(generatePrivateKey()), networks: [], maxPerCallUsd: '0' })

export const usd = (micro: string | null): string => (micro === null ? '' : formatUsd(BigInt(micro)))

function quantityOf(text: string): number {
  if (!/^(?:[1-9]|10)$/.test(text)) throw usageError(`--quantity: must be 1 to 10, not ${text}`)
  return Number(text)
}

export async function showClusters({ terminal }: CommandContext, node: string, json?: boolean): Promise<void> {
  const clusters = await listOptionClusters(reader(), node)
  const shown = clusters.filter(({ index }) => index !== null)
  printResult(terminal, json, { data: clusters }, () =>
    shown.length === 0
      ? 'Nothing was published of any cluster yet.'
      : table(shown, [
          { title: 'cluster', of: (row) => row.cluster },
          { title: 'name', of: (row) => row.name },
          { title: 'index', of: (row) => row.index ?? '', right: true },
          { title: 'agents', of: (row) => String(row.agents ?? ''), right: true },
          { title: 'volatility', of: (row) => `${((row.volatility ?? 0) * 100).toFixed(0)} %`, right: true },
          { title: 'series', of: (row) => String(row.series), right: true },
        ]),
  )
}

export async function showSeries(
  { terminal }: CommandContext,
  node: string,
  options: { cluster?: string; all?: boolean; json?: boolean },
): Promise<void> {
  const series = await listOptionSeries(reader(), node, {
    ...(options.cluster === undefined ? {} : { cluster: options.cluster }),
    ...(options.all ? {} : { buyable: true }),
  })
  printResult(terminal, options.json, { data: series }, () =>
    series.length === 0
      ? 'No series can be bought at the moment; --all shows those that are listed.'
      : [
          seriesTable(series, Date.now()),
          'Premium in USD; greeks for a point of size, vega for 1 %, theta for a day.',
          'Order book: assay options series <symbol>',
          ...(series.some(({ synthetic }) => synthetic) ? ['The demand behind them is invented (demo).'] : []),
        ].join('\n'),
  )
}

export async function showOneSeries(
  { terminal }: CommandContext,
  node: string,
  symbol: string,
  json?: boolean,
): Promise<void> {
  const series = await readOptionSeries(reader(), node, symbol)
  const { greeks } = series
  printResult(terminal, json, series, () =>
    [
      `${series.symbol}  ${series.kind} at ${series.strike}, ${series.state}, expires ${series.expires_at}`,
      `index      ${series.index ?? 'none'} (${series.index_at ?? ''}), volatility ${(series.volatility * 100).toFixed(0)} %${
        series.implied_volatility === null ? '' : `, implied ${(series.implied_volatility * 100).toFixed(0)} %`
      }`,
      `premium    ${series.premium_usd ?? 'not offered'}, model ${usd(series.model_micro) || 'not priced'}, pays at most ${usd(series.most_micro)}`,
      `greeks     ${greeks ? `delta ${greeks.delta}, gamma ${greeks.gamma}, vega ${greeks.vega}, theta ${greeks.theta}` : 'not priced yet'}`,
      `collateral ${usd(series.collateral_micro)} for ${series.open_interest} sold`,
      `book       ${series.book.map((level) => `${level.quantity} at ${usd(level.premium_micro)}`).join(', ') || 'empty'}`,
      `for sale   ${series.resales.map((level) => `${level.quantity} at ${usd(level.premium_micro)}`).join(', ') || 'none'} by holders`,
      `bids       ${series.bids.map((level) => `${level.quantity} at ${usd(level.premium_micro)}`).join(', ') || 'none'}`,
      `limit      ${usd(series.side_limit_micro_per_point)} USD a point for all ${series.kind}s of this topic and expiry`,
      `vault      ${series.vault ? `${series.vault.quantity} at ${usd(series.vault.premium_micro)}` : 'writes none'}`,
      ...(series.synthetic ? ['The demand behind this index is invented (demo).'] : []),
    ].join('\n'),
  )
}

export async function showQuote(
  { terminal }: CommandContext,
  node: string,
  symbol: string,
  options: { quantity: string; json?: boolean },
): Promise<void> {
  const quote = await quoteOption(reader(), node, { symbol, quantity: quantityOf(options.quantity) })
  printResult(terminal, options.json, quote, () =>
    [
      `${quote.quantity} x ${quote.symbol} for ${quote.premium_usd} USD, ${quote.seconds_left} seconds left`,
      `assay options buy ${quote.symbol} --quantity ${quote.quantity} --quote-id ${quote.quote_id}`,
    ].join('\n'),
  )
}

export async function showPositions(
  { terminal }: CommandContext,
  node: string,
  wallet: string,
  json?: boolean,
): Promise<void> {
  const holdings = await readOptionHoldings(reader(), node, wallet)
  printResult(terminal, json, holdings, () =>
    [
      holdings.positions.length === 0
        ? 'no positions'
        : table(holdings.positions, [
            { title: 'position', of: (row) => row.position_id },
            { title: 'series', of: (row) => row.symbol },
            { title: 'contracts', of: (row) => String(row.quantity), right: true },
            { title: 'premium', of: (row) => usd(row.premium_micro), right: true },
            { title: 'state', of: (row) => row.state },
            { title: 'value', of: (row) => usd(row.value_micro), right: true },
            { title: 'payout', of: (row) => usd(row.payout_micro), right: true },
            { title: 'profit', of: (row) => usd(row.profit_micro), right: true },
            { title: 'at expiry', of: (row) => usd(row.expiry_profit_micro), right: true },
            {
              title: 'for sale',
              of: (row) => (row.sell ? `${row.sell.quantity} at ${usd(row.sell.limit_micro)}` : ''),
            },
            { title: 'expires', of: (row) => row.expires_at },
          ]),
      ...(holdings.offers.length === 0
        ? []
        : [
            '',
            table(holdings.offers, [
              { title: 'offer', of: (row) => row.offer_id },
              { title: 'series', of: (row) => row.symbol },
              { title: 'premium', of: (row) => usd(row.premium_micro), right: true },
              { title: 'free', of: (row) => String(row.free_quantity), right: true },
              { title: 'sold', of: (row) => String(row.sold_quantity), right: true },
              { title: 'state', of: (row) => row.state },
            ]),
          ]),
      ...(holdings.orders.length === 0
        ? []
        : [
            '',
            table(holdings.orders, [
              { title: 'order', of: (row) => row.order_id },
              { title: 'series', of: (row) => row.symbol },
              { title: 'limit', of: (row) => usd(row.limit_micro), right: true },
              { title: 'open', of: (row) => String(row.open_quantity), right: true },
              { title: 'state', of: (row) => row.state },
            ]),
          ]),
      '',
      `to be paid out: ${usd(holdings.payable_micro)} USD`,
      ...holdings.payouts.map(
        (row) => `payout ${row.id}  ${usd(row.amount_micro)} USD  ${row.state}  ${row.transaction ?? ''}`,
      ),
    ].join('\n'),
  )
}

export async function showSettlements({ terminal }: CommandContext, node: string, json?: boolean): Promise<void> {
  const page = await listOptionSettlements(reader(), node, { limit: 50 })
  printResult(terminal, json, page, () =>
    page.data.length === 0
      ? 'Nothing has expired yet.'
      : table(page.data, [
          { title: 'symbol', of: (row) => row.symbol },
          { title: 'value', of: (row) => row.value ?? 'void', right: true },
          { title: 'payoff', of: (row) => usd(row.payoff_micro), right: true },
          { title: 'contracts', of: (row) => String(row.contracts), right: true },
          { title: 'paid', of: (row) => usd(row.paid_micro), right: true },
          { title: 'decided', of: (row) => row.decided_at.slice(0, 19) },
          { title: 'why void', of: (row) => (row.value === null ? (row.reason ?? '') : '') },
        ]),
  )
}

export async function runReplay(
  { terminal, endWith }: CommandContext,
  node: string,
  symbol: string,
  json?: boolean,
): Promise<void> {
  const { settlement } = await readOptionSeries(reader(), node, symbol)
  const replay = await (settlement === null ? replayOptionPrice : replayOptionSettlement)(reader(), node, symbol)
  const figures = `computed again from ${replay.inputs} public figures`
  printResult(terminal, json, replay, () =>
    [
      ...('outcome' in replay
        ? [
            `${replay.symbol}: ${replay.value ?? 'void'}, a contract pays ${usd(replay.payoff_micro ?? '0')} USD`,
            figures,
          ]
        : [
            `${replay.symbol}: index ${replay.index ?? 'none'}, volatility ${replay.volatility}, ${
              replay.model_micro === null ? 'no price in the band' : `a contract costs ${usd(replay.model_micro)} USD`
            }`,
            `${replay.ticks} ticks ${figures}`,
          ]),
      ...(replay.differences.length === 0
        ? [settlement === null ? 'the node priced it so' : 'the node settled it so']
        : replay.differences),
    ].join('\n'),
  )
  if (replay.differences.length > 0) endWith(exitCodes.notVerified)
}

const paying = (options: BuyOptions, body: unknown): BuyOptions => ({
  ...options,
  method: 'POST',
  data: JSON.stringify(body),
  network: 'base',
})

export async function runBuyOption(
  context: CommandContext,
  node: string,
  symbol: string,
  options: BuyOptions & { quantity: string; quoteId?: string },
): Promise<void> {
  const quantity = quantityOf(options.quantity)
  const body = { symbol, quantity, quote_id: options.quoteId ?? (await lockedQuote(context, node, symbol, quantity)) }
  await runBuy(context, `${node}/v1/options/buy`, paying(options, body))
}

/** What is shown here is what is signed: the purchase names the quote. */
async function lockedQuote(
  { terminal }: CommandContext,
  node: string,
  symbol: string,
  quantity: number,
): Promise<string> {
  const quote = await quoteOption(reader(), node, { symbol, quantity })
  terminal.say(`${quote.quantity} x ${quote.symbol} for ${quote.premium_usd} USD, ${quote.seconds_left} seconds left`)
  return quote.quote_id
}

export async function runWriteOption(
  context: CommandContext,
  node: string,
  symbol: string,
  premium: string,
  options: BuyOptions & { quantity: string; immediate?: boolean },
): Promise<void> {
  const body = {
    symbol,
    premium_usd: premium,
    quantity: quantityOf(options.quantity),
    immediate: options.immediate ?? false,
  }
  await runBuy(context, `${node}/v1/options/write`, paying(options, body))
}

export async function runOrderOption(
  context: CommandContext,
  node: string,
  symbol: string,
  limit: string,
  options: BuyOptions & { quantity: string; immediate?: boolean },
): Promise<void> {
  const body = {
    symbol,
    limit_usd: limit,
    quantity: quantityOf(options.quantity),
    immediate: options.immediate ?? false,
  }
  await runBuy(context, `${node}/v1/options/order`, paying(options, body))
}

export async function runWithdrawOption(
  { terminal }: CommandContext,
  node: string,
  offer: string,
  options: WalletOptions & { quantity?: string; json?: boolean },
): Promise<void> {
  const { account } = await chooseWallet(node, options, terminal)
  const client = createAssayClient({ account, networks: [], maxPerCallUsd: '0' })
  const done = await withdrawOption(client, node, account, {
    offer_id: offer,
    ...(options.quantity === undefined ? {} : { quantity: quantityOf(options.quantity) }),
  })
  printResult(
    terminal,
    options.json,
    done,
    () => `${usd(done.returned_micro)} USD for ${done.quantity} x ${done.symbol}. ${done.note}`,
  )
}

export async function runCloseOption(
  { terminal }: CommandContext,
  node: string,
  position: string,
  options: WalletOptions & { quantity?: string; limit?: string; rest?: boolean; dryRun?: boolean; json?: boolean },
): Promise<void> {
  if (options.rest && options.limit === undefined) throw usageError('--rest needs --limit')
  const wanted = {
    position_id: position,
    ...(options.quantity === undefined ? {} : { quantity: quantityOf(options.quantity) }),
  }
  const bid = options.limit === undefined || options.dryRun ? await bidForOption(reader(), node, wanted) : undefined
  if (bid) {
    const offered = `${bid.quantity} x ${bid.symbol} for ${bid.bid_usd} USD, ${bid.seconds_left} seconds left`
    if (options.dryRun) return printResult(terminal, options.json, bid, () => offered)
    terminal.say(offered)
  }
  const { account } = await chooseWallet(node, options, terminal)
  const client = createAssayClient({ account, networks: [], maxPerCallUsd: '0' })
  const order = bid
    ? { position_id: position, bid_id: bid.bid_id }
    : { ...wanted, limit_usd: options.limit ?? '', rest: options.rest ?? false }
  const done = await closeOption(client, node, account, order)
  const later = done.later_micro === '0' ? '' : `, and ${usd(done.later_micro)} USD when the series is settled`
  printResult(
    terminal,
    options.json,
    done,
    () =>
      `${done.paid_usd} USD for ${done.quantity} x ${done.symbol}${later}, ${done.left} left${
        done.waiting === 0 ? '' : `, ${done.waiting} of them wait in the book at ${options.limit} USD`
      }. ${done.note}`,
  )
}
