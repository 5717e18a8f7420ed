import type { Command } from 'commander'
import { payable } from '../buy/payable.ts'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { nodeUrl, walletArgument } from '../commerce/node-url.ts'
import { nodeOption } from '../find-node.ts'

type Reading = { url: string; json?: boolean }

/** Options on topic clusters: look, buy, write, and settle them again. */
export const addOptions: AddCommand = (program, context) => {
  const options = program.command('options').summary('Trade options on topic clusters')
  addReads(options, context)
  addTrades(options, context)
}

const addReads: AddCommand = (options, context) => {
  const reading = (command: Command) => command.option(...nodeOption).option(...jsonOption)
  reading(options.command('clusters').description('List topic clusters with their demand index.')).action(
    async (given: Reading) => (await import('./run-options.ts')).showClusters(context, nodeUrl(given.url), given.json),
  )
  reading(
    options
      .command('series')
      .description('List series with greeks, or show one with order book and history.')
      .argument('[symbol]', 'such as TC-52-20261204-100-C')
      .option('--cluster <id>', 'only on this cluster')
      .option('--all', 'include series without an offer'),
  ).action(async (symbol: string | undefined, given: Reading & { cluster?: string; all?: boolean }) => {
    const { showOneSeries, showSeries } = await import('./run-options.ts')
    if (symbol !== undefined) await showOneSeries(context, nodeUrl(given.url), symbol, given.json)
    else await showSeries(context, nodeUrl(given.url), given)
  })
  reading(
    options
      .command('quote')
      .description('Request a signed quote, valid for 60 seconds.')
      .argument('<symbol>', 'which series')
      .option('-q, --quantity <n>', 'number of contracts', '1'),
  ).action(async (symbol: string, given: Reading & { quantity: string }) =>
    (await import('./run-options.ts')).showQuote(context, nodeUrl(given.url), symbol, given),
  )
  reading(
    options
      .command('positions')
      .description('Show what a wallet holds, offers and is owed.')
      .argument('<wallet>', 'its address'),
  ).action(async (wallet: string, given: Reading) =>
    (await import('./run-options.ts')).showPositions(context, nodeUrl(given.url), walletArgument(wallet), given.json),
  )
  reading(options.command('settlements').description('List settled and voided series, newest first.')).action(
    async (given: Reading) =>
      (await import('./run-options.ts')).showSettlements(context, nodeUrl(given.url), given.json),
  )
  reading(
    options
      .command('trades')
      .description('List trades, newest first, or print each as it happens.')
      .argument('[symbol]', 'only of this series')
      .option('-f, --follow', 'print trades as they happen until Ctrl-C, signatures checked'),
  ).action(async (symbol: string | undefined, given: Reading & { follow?: boolean }) =>
    (await import('./show-market.ts')).showTrades(context, nodeUrl(given.url), symbol, given),
  )
  reading(
    options
      .command('days')
      .description('Show volume and open interest of a series by day.')
      .argument('<symbol>', 'which series'),
  ).action(async (symbol: string, given: Reading) =>
    (await import('./show-market.ts')).showDays(context, nodeUrl(given.url), symbol, given.json),
  )
  reading(options.command('vault').description('Show what the vault quotes, holds and may still lock.')).action(
    async (given: Reading) => (await import('./show-market.ts')).showVault(context, nodeUrl(given.url), given.json),
  )
  reading(
    options
      .command('replay')
      .description('Recompute index and price, or settlement, from public data; exit code 5 when they differ.')
      .argument('<symbol>', 'a traded or settled series'),
  ).action(async (symbol: string, given: Reading) =>
    (await import('./run-options.ts')).runReplay(context, nodeUrl(given.url), symbol, given.json),
  )
}

const addTrades: AddCommand = (options, context) => {
  payable(
    options
      .command('buy')
      .description('Pay the premium up front, 50 to 120 USD a contract; not refundable.')
      .argument('<symbol>', 'which series')
      .option('-q, --quantity <n>', 'number of contracts', '1')
      .option('--quote-id <id>', 'id of a valid quote'),
  )
    .addHelpText('after', '\nExample:\n  assay options series\n  assay options buy $SYMBOL --demo')
    .action(async (symbol: string, given) =>
      (await import('./run-options.ts')).runBuyOption(context, nodeUrl(given.url), symbol, given),
    )
  payable(
    options
      .command('write')
      .description('Post the full collateral, less the premium asked, and offer the contracts.')
      .argument('<symbol>', 'which series')
      .argument('<premium>', 'USD asked for a contract, 50 to 120')
      .option('-q, --quantity <n>', 'number of contracts', '1')
      .option('--immediate', 'return what no order buys at once'),
  ).action(async (symbol: string, premium: string, given) =>
    (await import('./run-options.ts')).runWriteOption(context, nodeUrl(given.url), symbol, premium, given),
  )
  payable(
    options
      .command('order')
      .description('Pay the limit up front and leave an order to buy in the book.')
      .argument('<symbol>', 'which series')
      .argument('<limit>', 'USD paid at most for a contract, 50 to 120')
      .option('-q, --quantity <n>', 'number of contracts', '1')
      .option('--immediate', 'return what is not bought at once'),
  ).action(async (symbol: string, limit: string, given) =>
    (await import('./run-options.ts')).runOrderOption(context, nodeUrl(given.url), symbol, limit, given),
  )
  options
    .command('withdraw')
    .description('Withdraw contracts that were not bought, or an order to buy or to sell.')
    .argument('<offer>', 'such as ofr_… or ord_…; of an order to sell, its position opt_…')
    .option('-q, --quantity <n>', 'number of contracts; default: all that are not sold')
    .option(...nodeOption)
    .option('--demo', 'sign with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that placed them')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option(...jsonOption)
    .action(async (offer: string, given) =>
      (await import('./run-options.ts')).runWithdrawOption(context, nodeUrl(given.url), offer, given),
    )
  options
    .command('close')
    .description('Sell contracts of a position: back to the vault at its signed bid, or to orders of the book.')
    .argument('<position>', 'such as opt_…')
    .option('-q, --quantity <n>', 'number of contracts; default: all that the vault wrote, with --limit all')
    .option('--limit <usd>', 'sell to orders of the book that pay this or more a contract')
    .option('--rest', 'with --limit: leave unfilled contracts in the order book')
    .option('--dry-run', 'show the bid of the vault and sign nothing')
    .option(...nodeOption)
    .option('--demo', 'sign with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that holds them')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option(...jsonOption)
    .action(async (position: string, given) =>
      (await import('./run-options.ts')).runCloseOption(context, nodeUrl(given.url), position, given),
    )
}
