import { type AddCommand, type CommandContext, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'
import { type Operator, withOperator } from './connect.ts'

const meanings: Record<string, string> = {
  sales: 'paid routes answer 503, nothing is charged',
  payouts: 'nothing is paid out',
  settlement: 'nothing is settled for other sellers',
  options: 'no option is bought or written',
}

export const addPause: AddCommand = (program, context) => {
  program
    .command('pauses')
    .summary('Show what is paused, since when and why')
    .description('Show everything that can be paused, who changed it last and why.')
    .option(...jsonOption)
    .action(({ json }: { json?: boolean }) =>
      withOperator(context.terminal, (operator) => list(context, operator, json)),
    )
  for (const action of ['pause', 'resume'] as const)
    program
      .command(action)
      .summary(action === 'pause' ? 'Pause sales, payouts, settlement or options' : 'Resume what was paused')
      .description(
        'Takes effect in every process of the node that the environment configures within a second. Each change is kept ' +
          'in the audit log with its reason.',
      )
      .argument('<name>', `One of ${Object.keys(meanings).join(', ')}`)
      .requiredOption('--reason <text>', 'reason, kept in the audit log')
      .option(...jsonOption)
      .addHelpText('after', `\nExample:\n  assay ${action} sales --reason "moving the database"`)
      .action((name: string, options: { reason: string; json?: boolean }) =>
        withOperator(context.terminal, (operator) => change(context, operator, name, action === 'pause', options)),
      )
}

async function list({ terminal }: CommandContext, { node, database }: Operator, json?: boolean): Promise<void> {
  const { all } = await node.readPauses(database)
  const document = [...all].map(([name, { paused, reason, changedBy, changedAt }]) => ({
    name,
    paused,
    effect: meanings[name] ?? '',
    reason,
    changed_by: changedBy,
    changed_at: changedAt.toISOString(),
  }))
  printResult(terminal, json, { data: document }, () =>
    table(document, [
      { title: 'name', of: (row) => row.name },
      { title: 'state', of: (row) => (row.paused ? 'PAUSED' : 'running') },
      { title: 'when paused', of: (row) => row.effect },
      { title: 'changed', of: (row) => `${row.changed_at} by ${row.changed_by}` },
      { title: 'reason', of: (row) => row.reason },
    ]),
  )
}

async function change(
  context: CommandContext,
  operator: Operator,
  name: string,
  paused: boolean,
  options: { reason: string; json?: boolean },
): Promise<void> {
  const { node, database, actor } = operator
  if (options.reason.trim() === '') throw usageError('--reason must not be empty')
  const known = await node.setPause(database, { name, paused, reason: options.reason, by: actor })
  if (!known) {
    const { all } = await node.readPauses(database)
    throw usageError(`"${name}" cannot be paused`, `One of ${[...all.keys()].join(', ')}.`)
  }
  await list(context, operator, options.json)
}
