import { type AddCommand, jsonOption } from '../command-context.ts'
import { nodeOption } from '../find-node.ts'
import { choiceOption, wholeOf } from '../read-option.ts'
import type { MatrixOptions } from './run-matrix.ts'

export const addMatrix: AddCommand = (program, context) => {
  program
    .command('matrix')
    .summary('Show a market data feed as a table')
    .description(
      'Show a feed of a node: ranked, dated, with its sources. The delayed tier is free and needs no wallet;\n' +
        '--live and --vip pay for one pull, or use a subscription with --token. Without a feed, lists all of them.',
    )
    .argument(
      '[feed]',
      'squeeze, equities, etf, short-volume, short-interest, ftd, threshold, borrow, halts, institutional',
    )
    .option(...nodeOption)
    .option('-n, --limit <rows>', 'number of rows', (text) => wholeOf(text, 1, 1_000_000), 20)
    .option('--symbol <list>', 'only these symbols, separated by commas')
    .option('--min-score <number>', 'only rows whose ranking value is at least this')
    .option('--sort <columns>', 'order by columns, separated by commas; - before one for descending')
    .option('--filter <conditions>', 'conditions such as days_to_cover>=2,kind=share')
    .option('--live', 'pay for the newest snapshot')
    .option('--vip', 'pay for the newest snapshot with its factors')
    .option('--as-of <time>', 'use only data known at this time: a date or an RFC 3339 time')
    .option('--screen <id>', 'a saved screen or watchlist (assay screen)')
    .option('--method <name>', 'with --vip: an earlier method of the score')
    .option('--history <days>', 'with --vip and one --symbol: its last trading days, 1,260 at most', (text) =>
      wholeOf(text, 1, 1_260),
    )
    .option('-o, --output <file>', 'save the answer: .csv, .parquet, .ndjson or .json')
    .option('--bulk <folder>', 'save past months as files, checked against the hashes of the node')
    .option('--from <month>', 'with --bulk: first month, such as 2025-11; default: 12 months back')
    .addOption(choiceOption('--format <name>', 'with --bulk: csv or parquet', ['csv', 'parquet']).default('csv'))
    .option('--quality', 'show how well the feed predicted what followed')
    .option('--token <token>', 'subscription token, instead of paying; default: ASSAY_FEED_TOKEN')
    .option('--demo', 'pay with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that pays')
    .option('--key-env <name>', 'environment variable with that key')
    .option('--max-amount <usd>', 'maximum price of one pull', '0.30')
    .option('--dry-run', 'show the price and sign nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .option(...jsonOption)
    .addHelpText('after', examples)
    .action(async (feed: string | undefined, options: MatrixOptions) => {
      const { runMatrix } = await import('./run-matrix.ts')
      await runMatrix(context, feed, options)
    })
}

const examples = `
Examples:
  assay matrix squeeze
  assay matrix squeeze --vip --symbol GME,AMC --demo
  assay matrix squeeze --vip --symbol GME --history 60 --demo
  assay matrix squeeze --token $TOKEN --vip --symbol GME --history 60
  assay matrix squeeze --sort=-days_to_cover --filter 'borrow_fee>10'
  assay matrix squeeze -n 25000 -o squeeze.parquet
  assay matrix squeeze --bulk . --demo -y
  assay matrix squeeze --quality`
