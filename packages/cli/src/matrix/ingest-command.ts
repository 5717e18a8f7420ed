import { type Command, InvalidArgumentError } from 'commander'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import type { BackfillOptions } from './run-backfill.ts'
import type { IngestOptions } from './run-ingest.ts'

const readTime = (text: string): string => {
  if (Number.isNaN(Date.parse(text))) throw new InvalidArgumentError('must be an RFC 3339 time')
  return text
}

const readDate = (text: string): string => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(Date.parse(text)))
    throw new InvalidArgumentError('must be a date such as 2026-08-03')
  return text
}

export const addIngest: AddCommand = (program, context) => {
  const ingest = program
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
  ingest
    .command('backfill')
    .summary('Fetch the past of the sources, as far as their publishers keep it')
    .description(
      'Asks for every file about these days, newest first, with each publisher’s pause and with retries. What is held\n' +
        'is not asked for again, so an interrupted run goes on where it stopped. Exit code 1 when a file failed.',
    )
    .requiredOption('--from <date>', 'first day', readDate)
    .option('--to <date>', 'last day (today)', readDate)
    .option('--source <id...>', 'only these sources (those that the node fetches by itself)')
    .option('--again', 'include files that are stored already or were recently not published')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  assay ingest backfill --from 2026-08-03\n  assay ingest backfill --from 2026-08-03 --to 2026-09-30 --source sec-fails --json',
    )
    .action(async (_options: unknown, command: Command) => {
      const { runBackfill } = await import('./run-backfill.ts')
      await runBackfill(context, command.optsWithGlobals<BackfillOptions>())
    })
  ingest
    .command('coverage')
    .summary('Show what is held of each source, what is missing, and what to do about it')
    .option(...jsonOption)
    .action(async (_options: unknown, command: Command) => {
      const { runCoverage } = await import('./run-coverage.ts')
      await runCoverage(context, command.optsWithGlobals<{ json?: boolean }>())
    })
}

const examples = `
Examples:
  assay ingest CNMSshvol20261113.txt cnsfails202610b.zip
  assay ingest https://www.sec.gov/files/data/fails-deliver-data/cnsfails202610b.zip
  assay ingest --watch --source sec-fails sec-shares sec-tickers
  assay ingest --watch --source ibkr-borrow
  assay ingest --list
  assay ingest coverage`
