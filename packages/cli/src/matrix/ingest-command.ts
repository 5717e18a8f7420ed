import { InvalidArgumentError } from 'commander'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import type { IngestOptions } from './run-ingest.ts'

const readTime = (text: string): string => {
  if (Number.isNaN(Date.parse(text))) throw new InvalidArgumentError('must be an RFC 3339 time')
  return text
}

export const addIngest: AddCommand = (program, context) => {
  program
    .command('ingest')
    .summary('Import official market data files')
    .description(
      'Validate each file strictly and store its rows, point in time. A file that fails validation is set aside with the\n' +
        'reason and changes nothing. The format is recognised by name and content; .gz is unpacked.',
    )
    .argument('[files...]', 'files, or URLs of the publishers')
    .option('--watch', 'fetch on the publishers’ schedules until interrupted')
    .option('--source <id...>', 'with --watch: only these sources; with files: their format')
    .option(
      '--available-at <time>',
      'publication time of these files, if it differs from their timestamp or schedule',
      readTime,
    )
    .option('--list', 'show all sources, their addresses, schedules and licences')
    .option(...jsonOption)
    .addHelpText('after', examples)
    .action(async (files: string[], options: IngestOptions) => {
      if (files.length === 0 && !options.watch && !options.list)
        throw usageError('nothing to ingest', 'Give files or URLs, or --watch to follow the publishers.')
      const { runIngest } = await import('./run-ingest.ts')
      await runIngest(context, files, options)
    })
}

const examples = `
Examples:
  assay ingest CNMSshvol20261113.txt cnsfails202610b.zip
  assay ingest https://www.sec.gov/files/data/fails-deliver-data/cnsfails202610b.zip
  assay ingest --watch --source sec-fails sec-shares sec-tickers
  assay ingest --watch --source ibkr-borrow
  assay ingest --list`
