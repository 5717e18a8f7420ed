import { type AddCommand, type CommandContext, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'
import { type Operator, withOperator } from './connect.ts'

const meanings: Record<string, string> = {
  paid: 'selling: paid routes answer 503, nothing is charged',
  payouts: 'paying others',
  facilitator: 'serving others as a facilitator',
  options: 'the options market',
}

export const addSwitch: AddCommand = (program, context) => {
  const group = program
    .command('switch')
    .summary('stop and restart parts of a running node')
    .description(
      'Kill switches of the node that the environment configures. A switch that is on stops what it names, in every ' +
        'process of the node, within a second. Each change is kept in the audit log with its reason.',
    )
  group
    .command('list')
    .description('show every switch, who changed it last and why')
    .option(...jsonOption)
    .action(({ json }: { json?: boolean }) =>
      withOperator(context.terminal, (operator) => list(context, operator, json)),
    )
  for (const state of ['on', 'off'] as const)
    group
      .command(state)
      .description(state === 'on' ? 'stop what the switch names' : 'let it go on again')
      .argument('<name>', `one of ${Object.keys(meanings).join(', ')}`)
      .requiredOption('--reason <text>', 'why; it is kept in the audit log')
      .option(...jsonOption)
      .addHelpText('after', `\nExample:\n  assay switch ${state} paid --reason "moving the database"`)
      .action((name: string, options: { reason: string; json?: boolean }) =>
        withOperator(context.terminal, (operator) => change(context, operator, name, state === 'on', options)),
      )
}

async function list({ terminal }: CommandContext, { node, database }: Operator, json?: boolean): Promise<void> {
  const switches = await node.readSwitches(database)
  const rows = node.switchNames.map((name) => ({ name, ...switches[name] }))
  const document = rows.map(({ name, on, reason, changedBy, changedAt }) => ({
    name,
    on,
    stops: meanings[name],
    reason,
    changed_by: changedBy,
    changed_at: changedAt.toISOString(),
  }))
  printResult(terminal, json, { data: document }, () =>
    table(document, [
      { title: 'switch', of: (row) => row.name },
      { title: 'state', of: (row) => (row.on ? 'ON (stopped)' : 'off') },
      { title: 'stops', of: (row) => row.stops ?? '' },
      { title: 'changed', of: (row) => `${row.changed_at} by ${row.changed_by}` },
      { title: 'reason', of: (row) => row.reason },
    ]),
  )
}

async function change(
  context: CommandContext,
  operator: Operator,
  name: string,
  on: boolean,
  options: { reason: string; json?: boolean },
): Promise<void> {
  const { node, database, actor } = operator
  const known = node.switchNames.find((one) => one === name)
  if (known === undefined) throw usageError(`there is no switch "${name}"`, `One of ${node.switchNames.join(', ')}.`)
  if (options.reason.trim() === '') throw usageError('--reason must say something')
  await node.setSwitch(database, { name: known, on, reason: options.reason, by: actor })
  await list(context, operator, options.json)
}
