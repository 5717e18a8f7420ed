import { getAddress } from 'viem/utils'
import { type AddCommand, type CommandContext, jsonOption } from '../command-context.ts'
import { printResult } from '../output.ts'
import { reasonOption } from '../read-option.ts'
import { type Operator, withOperator } from './connect.ts'

export const addPayees: AddCommand = (program, context) => {
  const group = program.command('payees').summary('Show and change the receiving addresses')
  group
    .command('list')
    .description('List every receiving address, including earlier ones')
    .option(...jsonOption)
    .action(({ json }: { json?: boolean }) =>
      withOperator(context.terminal, (operator) => list(context, operator, json)),
    )
  group
    .command('change')
    .description('Accept PAY_TO and CUSTODY of this environment as the new addresses')
    .requiredOption(...reasonOption)
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nStop the node, set PAY_TO or CUSTODY (and CUSTODY_KEYS), run this, start the node. Earlier addresses stay\n' +
        'compared with the chain, and what arrives there is posted.\n\n' +
        'Example:\n  PAY_TO=$WALLET assay payees change --reason "moved to a hardware wallet"',
    )
    .action((options: { reason: string; json?: boolean }) =>
      withOperator(context.terminal, (operator) => change(context, operator, options)),
    )
}

type Row = { network: string; payee: string; address: string; since: Date; retired_at: Date | null }

async function list({ terminal }: CommandContext, { database }: Operator, json?: boolean): Promise<void> {
  const found = await database.query<Row>(
    'select network, payee, address, since, retired_at from own_address order by network, payee, since',
  )
  const rows = found.rows.map((row) => ({ ...row, address: getAddress(row.address) }))
  printResult(terminal, json, { data: rows }, () =>
    rows
      .map(({ network, payee, address, retired_at }) => {
        const until = retired_at ? `  earlier, until ${retired_at.toISOString()}` : ''
        return `${network}  ${payee.padEnd(7)}  ${address}${until}`
      })
      .join('\n'),
  )
}

async function change(
  { terminal }: CommandContext,
  { node, config, database, actor }: Operator,
  { reason, json }: { reason: string; json?: boolean },
): Promise<void> {
  const changed = await node.changePayees(database, node.instancePayees(config.networks, node.payeesOf(config)), {
    actor,
    reason,
  })
  printResult(terminal, json, { changed: changed !== undefined, ...changed }, () => {
    if (!changed) return 'The database has these addresses already; nothing changed.'
    const lines = Object.entries(changed.after)
      .filter(([name, address]) => changed.before[name] !== address)
      .map(([name, address]) => `${name}: ${changed.before[name]} -> ${address}`)
    return [...lines, 'Start the node. Earlier addresses stay compared with the chain until they are empty.'].join('\n')
  })
}
