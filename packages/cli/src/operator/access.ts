import { operatorRoles } from '@assay/protocol/operator-role'
import { Argument } from 'commander'
import { type AddCommand, type CommandContext, jsonOption } from '../command-context.ts'
import { CliError, exitCodes } from '../exit-codes.ts'
import { printResult } from '../output.ts'
import { type Operator, withOperator } from './connect.ts'

const roles = [...operatorRoles, 'none'] as const
type Role = (typeof roles)[number]

const meanings: Record<Role, string> = {
  read: 'can read everything but secrets and bought answers',
  operate: 'can also pause, decide on sources, import data and stop notifications; moves no money',
  withdraw: 'can do everything that the node can',
  none: 'has no rights any more',
}

export const addAccess: AddCommand = (program, context) => {
  program
    .command('access')
    .summary('Set what a login of the database may do with operator commands')
    .description(
      'The commands of an operator have the rights of the login in their DATABASE_URL. Run it as the owner of the database, ' +
        'and again after an upgrade. ' +
        roles.map((role) => `${role}: ${meanings[role]}.`).join(' '),
    )
    .argument('<login>', 'name of the login, as `create role` made it')
    .addArgument(new Argument('<role>', 'what it may do').choices(roles))
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay access viewer read')
    .action((login: string, role: Role, { json }: { json?: boolean }) =>
      withOperator(context.terminal, (operator) => setAccess(context, operator, { login, role }, json)),
    )
}

async function setAccess(
  { terminal }: CommandContext,
  { node, database, databaseUrl, actor }: Operator,
  { login, role }: { login: string; role: Role },
  json?: boolean,
): Promise<void> {
  const client = await node.connectClient({ url: databaseUrl }, {}, 5_000)
  try {
    const outcome = await node.setOperatorAccess(client, login, role).catch((cause: unknown) => {
      throw new CliError(exitCodes.failed, 'access_not_set', (cause as Error).message, {
        hint: 'DATABASE_URL must name the owner of the database, for `withdraw` with the admin option on assay_app.',
        cause,
      })
    })
    if (outcome === 'no_such_login')
      throw new CliError(exitCodes.failed, 'no_such_login', `the server has no login ${login}`, {
        hint: `Make it first: create role ${login} login password '…';`,
      })
    if (outcome === 'node_login')
      throw new CliError(exitCodes.failed, 'node_login', `${login} is the login of the node itself`, {
        hint: 'Give a person another login.',
      })
  } finally {
    await client.end()
  }
  await database.transaction((tx) =>
    node.writeAudit(tx, { actor, action: 'access.set', subject: login, details: { role } }),
  )
  printResult(terminal, json, { login, role }, () => `${login} ${meanings[role]}`)
}
