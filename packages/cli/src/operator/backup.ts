import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { printResult } from '../output.ts'
import { withOperator } from './connect.ts'

export const addBackup: AddCommand = (program, { terminal }) => {
  program
    .command('backup')
    .summary('Back up the database of a running node')
    .description(
      'A physical copy of the whole database server with the log that makes it consistent, while the node goes on ' +
        'selling. Unpack base.tar into an empty data folder of a PostgreSQL of the same major version and start it. A dump ' +
        'is not enough: it assigns new transaction ids, and the seals of the ledger name the old ones.',
    )
    .argument('<folder>', 'destination; created if missing')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay backup /backups/2026-01-31')
    .action((folder: string, { json }: { json?: boolean }) => {
      if (existsSync(join(folder, 'base.tar')))
        throw usageError(`${folder} holds a backup already`, 'Name a new folder: no backup is overwritten.')
      return withOperator(terminal, async ({ node, databaseUrl }) => {
        const now = new Date(node.systemClock.nowMs()).toISOString()
        const backup = await node.takeBackup({ url: databaseUrl }, resolve(folder), now).catch((cause: unknown) => {
          throw new CliError(exitCodes.failed, 'backup_failed', (cause as Error).message, {
            hint: 'The login needs the REPLICATION right, and pg_hba.conf must let it in for replication.',
            cause,
          })
        })
        printResult(
          terminal,
          json,
          { folder: resolve(folder), bytes: backup.bytes, started_at: backup.startedAt },
          () => `${(backup.bytes / 1_048_576).toFixed(0)} MB in ${resolve(folder)}`,
        )
      })
    })
}
