import { type AddCommand, type CommandContext, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { ageText, printResult, table } from '../output.ts'
import { reasonOption } from '../read-option.ts'
import { type Operator, withOperator } from './connect.ts'

type Change = { reason: string; json?: boolean }

export const addNotifications: AddCommand = (program, context) => {
  const group = program.command('notifications').summary('See how notifications are delivered, and stop or repeat them')
  group
    .command('status')
    .description('Show what waits, what was sent or given up within a day, and which endpoints fail')
    .option(...jsonOption)
    .action(({ json }: { json?: boolean }) =>
      withOperator(context.terminal, (operator) => status(context, operator, json)),
    )
  group
    .command('block')
    .description('Stop all deliveries to a webhook or mail address, for every wallet')
    .argument('<target>', 'URL or mail address, as `status` shows it')
    .requiredOption(...reasonOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay notifications block reader@example.org --reason "asked us to stop"')
    .action((target: string, options: Change) =>
      withOperator(context.terminal, (operator) => block(context, operator, target, options)),
    )
  group
    .command('retry')
    .description('Retry failed deliveries, except to paused endpoints')
    .argument('[endpoint]', 'id of one endpoint. Default: all')
    .requiredOption(...reasonOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay notifications retry --reason "the mail server is back"')
    .action((endpoint: string | undefined, options: Change) =>
      withOperator(context.terminal, (operator) => retry(context, operator, endpoint, options)),
    )
}

async function status({ terminal }: CommandContext, { node, database }: Operator, json?: boolean): Promise<void> {
  const nowMs = node.systemClock.nowMs()
  const found = await node.readDeliveryStatus(database, nowMs)
  const age = (at: Date | null) => (at === null ? '' : ageText(nowMs - at.getTime()))
  printResult(terminal, json, found, () => {
    if (found.endpoints.length === 0) return 'no endpoints yet'
    const endpoints = table(found.endpoints, [
      { title: 'endpoints', of: (row) => row.kind },
      { title: 'state', of: (row) => (row.reason === '' ? row.state : `${row.state}: ${row.reason}`) },
      { title: 'number', of: (row) => String(row.endpoints), right: true },
    ])
    const deliveries = table(found.deliveries, [
      { title: 'deliveries', of: (row) => row.kind },
      { title: 'waiting', of: (row) => String(row.waiting), right: true },
      { title: 'late by', of: (row) => age(row.oldest_due_at), right: true },
      { title: 'sent in a day', of: (row) => String(row.sent_day), right: true },
      { title: 'given up', of: (row) => String(row.dead_day), right: true },
    ])
    const failing = table(found.failing, [
      { title: 'failing', of: (row) => row.id },
      { title: 'target', of: (row) => row.target },
      { title: 'for', of: (row) => age(row.failing_since), right: true },
      { title: 'waiting', of: (row) => String(row.waiting), right: true },
      { title: 'last', of: (row) => row.last_status ?? '' },
    ])
    return [
      endpoints,
      ...(found.deliveries.length > 0 ? [deliveries] : []),
      ...(found.failing.length > 0 ? [failing] : []),
    ].join('\n\n')
  })
}

const nonEmpty = (reason: string) => {
  if (reason.trim() === '') throw usageError('--reason must not be empty')
  return reason
}

async function block(
  { terminal }: CommandContext,
  { node, database, actor }: Operator,
  target: string,
  { reason, json }: Change,
): Promise<void> {
  const act = { actor, reason: nonEmpty(reason) }
  const endpoints = await node.blockTarget(database, target, act, node.systemClock.nowMs())
  if (endpoints === 0) throw usageError(`no endpoint has the target ${target}`, 'See `assay notifications status`.')
  printResult(terminal, json, { target, endpoints }, () => `${endpoints} endpoints are paused; nothing is sent there`)
}

async function retry(
  { terminal }: CommandContext,
  { node, database, actor }: Operator,
  endpoint: string | undefined,
  { reason, json }: Change,
): Promise<void> {
  const act = { actor, reason: nonEmpty(reason) }
  const deliveries = await node.retryDead(database, endpoint, act, node.systemClock.nowMs())
  printResult(terminal, json, { deliveries }, () => `${deliveries} deliveries are due again`)
}
