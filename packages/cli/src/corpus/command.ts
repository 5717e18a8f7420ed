import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { withOperator } from '../operator/connect.ts'

type Budget = { pages?: string; maxDomains?: string; maxPages?: string }
export type AddOptions = Budget & { as?: string; json?: boolean }

const countOf = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,6}$/.test(text)) throw usageError(`${name} must be a whole number from 1 to 1000000`)
  return Math.min(Number(text), 1_000_000)
}

export const budgetOf = ({ pages, maxDomains, maxPages }: Budget) => ({
  pages: countOf('--pages', pages),
  domains: countOf('--max-domains', maxDomains),
  total: countOf('--max-pages', maxPages),
})

/** The pages that `match` can find: what the crawler begins with, and how far it is. */
export const addCorpus: AddCommand = (program, context) => {
  const corpus = program.command('corpus').summary('Fill the corpus that match searches (operator)')
  corpus
    .command('add')
    .description(
      'Add domains, sitemaps, feeds, pages, files with a list of them, or WARC files to the corpus; the node reads them politely',
    )
    .argument('<what...>', 'a domain, an address, or a file (.warc, .warc.gz, or a list with one entry a line)')
    .option('--as <kind>', 'read the addresses as `listing` (sitemap or feed) or `page`; default: by file extension')
    .option('--pages <n>', 'pages to keep of each domain; default: by setting and score')
    .option('--max-domains <n>', 'stop after this many new domains')
    .option('--max-pages <n>', 'stop after this many pages of archives')
    .option(...jsonOption)
    .action((what: string[], options: AddOptions) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-corpus.ts')).addAll(context, operator, what, options),
      ),
    )
  corpus
    .command('status')
    .description('Show how many pages were read, what waits, and what could not be read')
    .option(...jsonOption)
    .action((options: { json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-corpus.ts')).showStatus(context, operator, options),
      ),
    )
}
