import { resolve } from 'node:path'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { CliError, exitCodes } from '../exit-codes.ts'
import { printResult } from '../output.ts'
import { wholeOf } from '../read-option.ts'
import { type Operator, withOperator } from './connect.ts'

type Options = { days: number; json?: boolean }

export const addArchive: AddCommand = (program, { terminal }) => {
  program
    .command('archive')
    .summary('Move old payments and postings out of the database into files')
    .description(
      'Takes partitions of payments and postings whose time is over out of their tables, writes them into compressed files ' +
        'with their hashes, and drops them; the node goes on selling. Claims stay, so that no payment key is used twice. ' +
        'Nothing leaves that can still change, is not sealed, or that a refund could need. Needs the owner of the database. ' +
        '`assay ledger verify --archive <folder>` reads the files.',
    )
    .argument('<folder>', 'destination; created if missing, and always the same one')
    .option('--days <n>', 'days after the end of a partition, at least 400', (text) => wholeOf(text, 400, 100_000), 400)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay archive /archive --days 800')
    .action((folder: string, { days, json }: Options) =>
      withOperator(terminal, async (operator) => {
        const parts = await archive(operator, resolve(folder), days, (text) => terminal.say(text))
        printResult(terminal, json, { folder: resolve(folder), partitions: parts }, () =>
          parts.length === 0
            ? 'nothing to archive'
            : parts.map(({ partition, rows, files }) => `${partition}  ${rows} rows in ${files} files`).join('\n'),
        )
      }),
    )
}

async function archive(
  { node, databaseUrl, actor }: Operator,
  folder: string,
  days: number,
  say: (text: string) => void,
) {
  const client = await node.connectClient({ url: databaseUrl }, {}, 5_000)
  try {
    const now = new Date(node.systemClock.nowMs())
    return await node.archivePartitions(client, { folder, days, now, actor, say }).catch((cause: unknown) => {
      throw new CliError(exitCodes.failed, 'archive_failed', (cause as Error).message, {
        hint: 'Nothing is lost: run it again with the same folder. DATABASE_URL must name the owner of the database.',
        cause,
      })
    })
  } finally {
    await client.end()
  }
}
