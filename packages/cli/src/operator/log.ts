import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { logGroup } from '../log/command.ts'
import { reasonOption } from '../read-option.ts'
import { withOperator } from './connect.ts'

const collect = (value: string, earlier: string[]) => [...earlier, value]

export type RepairOptions = {
  from: string[]
  evidence: string[]
  newOrigin?: string
  reason: string
  json?: boolean
}

export const addLog: AddCommand = (program, context) => {
  const group = logGroup(program)
  group
    .command('status')
    .description('Show whether the log signs, and the heads that others hold')
    .option(...jsonOption)
    .action(({ json }: { json?: boolean }) =>
      withOperator(context.terminal, async (operator) => {
        const { showLog } = await import('./repair-log.ts')
        await showLog(context, operator, json)
      }),
    )
  group
    .command('repair')
    .description(
      'Restore leaves that a restored database lacks, from copies of the log. Every leaf is checked against a head that ' +
        'this log or one of its witnesses signed before anything is written. Entries written since the restore get new ' +
        'places behind them. The node may run; it continues by itself once its witnesses agree.',
    )
    .option(
      '--from <url or folder>',
      'a copy of the log, such as https://mirror.example/v1/log; may be repeated',
      collect,
      [],
    )
    .option('--evidence <file or folder>', 'attestations that buyers kept; may be repeated', collect, [])
    .option('--new-origin <name>', 'abandon this log and start another under this name; its first entry says so')
    .requiredOption(...reasonOption)
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  assay log repair --from https://mirror.example/v1/log --reason "restored the backup of Monday"\n' +
        '  assay log repair --new-origin api.example.org/v1/log-2 --reason "no copy of the log is left"',
    )
    .action((options: RepairOptions) => {
      const copies = options.from.length + options.evidence.length
      if (options.newOrigin === undefined && copies === 0)
        throw usageError('give --from or --evidence, or --new-origin if no copy is left')
      if (options.newOrigin !== undefined && copies > 0)
        throw usageError('--new-origin gives the log up: it takes no --from and no --evidence')
      return withOperator(context.terminal, async (operator) => {
        const { repairLog } = await import('./repair-log.ts')
        await repairLog(context, operator, options)
      })
    })
  group
    .command('resume')
    .description('Resume signing after a restore without asking a witness or peer; a known fork stays stopped')
    .requiredOption(...reasonOption)
    .option(...jsonOption)
    .action((options: { reason: string; json?: boolean }) =>
      withOperator(context.terminal, async (operator) => {
        const { resume } = await import('./repair-log.ts')
        await resume(context, operator, options)
      }),
    )
}
