import type { Command } from 'commander'
import { payable } from '../buy/payable.ts'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { nodeOption, nodeUrl, walletArgument } from '../commerce/node-url.ts'

type Reading = { node: string; json?: boolean }

/** Options on topic clusters: look, buy, write, and settle them anew. */
export const addOptions: AddCommand = (program, context) => {
  const options = program.command('options').summary('options on topic clusters')
  addReads(options, context)
  addTrades(options, context)
}

const addReads: AddCommand = (options, context) => {
  const reading = (command: Command) => command.option(...nodeOption).option(...jsonOption)
  reading(options.command('clusters').description('Topic clusters with their demand index.')).action(
    async (given: Reading) => (await import('./run-options.ts')).showClusters(context, nodeUrl(given.node), given.json),
  )
  reading(
    options
      .command('series')
      .description('Series that are listed; with a symbol, one of them with greeks, book and history.')
      .argument('[symbol]', 'such as TC-52-20261204-100-C')
      .option('--cluster <id>', 'only on this cluster')
      .option('--all', 'also those that nobody offers at the moment'),
  ).action(async (symbol: string | undefined, given: Reading & { cluster?: string; all?: boolean }) => {
    const { showOneSeries, showSeries } = await import('./run-options.ts')
    if (symbol !== undefined) await showOneSeries(context, nodeUrl(given.node), symbol, given.json)
    else await showSeries(context, nodeUrl(given.node), given)
  })
  reading(
    options
      .command('quote')
      .description('A signed quote, valid for 60 seconds.')
      .argument('<symbol>', 'which series')
      .option('-q, --quantity <n>', 'how many contracts', '1'),
  ).action(async (symbol: string, given: Reading & { quantity: string }) =>
    (await import('./run-options.ts')).showQuote(context, nodeUrl(given.node), symbol, given),
  )
  reading(
    options
      .command('positions')
      .description('What a wallet holds, offers and is owed.')
      .argument('<wallet>', 'its address'),
  ).action(async (wallet: string, given: Reading) =>
    (await import('./run-options.ts')).showPositions(context, nodeUrl(given.node), walletArgument(wallet), given.json),
  )
  reading(options.command('settlements').description('Series that were settled or voided, newest first.')).action(
    async (given: Reading) =>
      (await import('./run-options.ts')).showSettlements(context, nodeUrl(given.node), given.json),
  )
  reading(
    options
      .command('replay')
      .description('Settles a series anew from public data and compares; exit code 5 when it differs.')
      .argument('<symbol>', 'a settled series'),
  ).action(async (symbol: string, given: Reading) =>
    (await import('./run-options.ts')).runReplay(context, nodeUrl(given.node), symbol, given.json),
  )
}

const addTrades: AddCommand = (options, context) => {
  payable(
    options
      .command('buy')
      .description('Pays the premium, 50 to 120 USD a contract, up front; it is not refundable.')
      .argument('<symbol>', 'which series')
      .option('-q, --quantity <n>', 'how many contracts', '1')
      .option('--quote-id <id>', 'a quote that still stands'),
  )
    .addHelpText('after', '\nExample:\n  assay options series\n  assay options buy TC-52-20261204-100-C --demo')
    .action(async (symbol: string, given) =>
      (await import('./run-options.ts')).runBuyOption(context, nodeUrl(given.node), symbol, given),
    )
  payable(
    options
      .command('write')
      .description('Posts the full collateral, less the premium asked, and offers the contracts.')
      .argument('<symbol>', 'which series')
      .argument('<premium>', 'USD asked for a contract, 50 to 120')
      .option('-q, --quantity <n>', 'how many contracts', '1'),
  ).action(async (symbol: string, premium: string, given) =>
    (await import('./run-options.ts')).runWriteOption(context, nodeUrl(given.node), symbol, premium, given),
  )
  options
    .command('withdraw')
    .description('Takes back the collateral of contracts that nobody bought.')
    .argument('<offer>', 'such as ofr_…')
    .option('-q, --quantity <n>', 'how many contracts; all that are free unless told')
    .option(...nodeOption)
    .option('--demo', 'sign with the buyer wallet that a demo node on this machine lends')
    .option('--key-file <path>', 'file with the private key of the wallet that wrote them')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option(...jsonOption)
    .action(async (offer: string, given) =>
      (await import('./run-options.ts')).runWithdrawOption(context, nodeUrl(given.node), offer, given),
    )
}
