import { type AddCommand, jsonOption } from '../command-context.ts'
import { nodeOption } from '../find-node.ts'
import type { MatchOptions } from './run-match.ts'

export const addMatch: AddCommand = (program, context) => {
  program
    .command('match')
    .summary('Search citable sources for a question')
    .description('Pay for one search and print ranked pages with a quotable snippet, CiteScore and licence.')
    .argument('<query...>', 'what the sources should be about; put "phrases" in quotes')
    .option(...nodeOption)
    .option('-n, --limit <pages>', 'number of pages, at most 50', '10')
    .option('--min-score <number>', 'minimum CiteScore of the source')
    .option('--licence <name>', 'only under this licence, such as CC-BY-4.0')
    .option('--language <code>', 'only in this language, such as en')
    .option('--max-age-days <days>', 'maximum age of a page')
    .option('--since <date>', 'only pages dated on this day or later, such as 2026-01-31')
    .option('--until <date>', 'only pages dated on this day or earlier')
    .option('--domains <list>', 'only these sites, separated by commas')
    .option('--explain', 'show the parts of each rank')
    .option('--demo', 'pay with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that pays')
    .option('--key-env <name>', 'environment variable with that key')
    .option('--max-amount <usd>', 'maximum price of one search', '0.01')
    .option('--dry-run', 'show the price and sign nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay match short squeeze --demo --explain')
    .action(async (query: string[], options: MatchOptions) => {
      const { runMatch } = await import('./run-match.ts')
      await runMatch(context, query.join(' '), options)
    })
}
