import { type AddCommand, jsonOption } from '../command-context.ts'
import type { ChangeOptions } from './change-keys.ts'
import { withOperator } from './connect.ts'
import { minutesOf } from './keys.ts'

const weekMinutes = 10_080

/** Beside the other commands about the log. */
export const addLogKey: AddCommand = (program, context) => {
  const group =
    program.commands.find((command) => command.name() === 'log') ??
    program.command('log').summary('Operate, check and repair transparency logs')
  group
    .command('rotate-key')
    .description(
      'Rotate the log key, effective immediately. The old one signs beside it during the overlap, and vouches for it with ' +
        'the operator wallet (OPERATOR_KEY; in demo mode the demo operator). Revoke a stolen one with `assay keys revoke`.',
    )
    .option('--overlap <minutes>', 'time for which the old key signs beside the new one', minutesOf, weekMinutes)
    .option('--url <origin>', 'base address of the node (BASE_URL, or the address on this machine)')
    .option('--allow-new-wallet', 'allow a different wallet to vouch')
    .option('--dry-run', 'show what would be done')
    .option('-y, --yes', 'do not ask for confirmation')
    .option(...jsonOption)
    .action((options: ChangeOptions & { overlap: number }) =>
      withOperator(context.terminal, async (operator) => {
        const { rotateKeys } = await import('./change-keys.ts')
        await rotateKeys(context, operator, options, 'log')
      }),
    )
}
