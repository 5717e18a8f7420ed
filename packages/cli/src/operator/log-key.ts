import type { AddCommand } from '../command-context.ts'
import { completeRotation, minutesOf } from './keys.ts'

const weekMinutes = 10_080

/** Beside the other commands about the log. */
export const addLogKey: AddCommand = (program, context) => {
  const group =
    program.commands.find((command) => command.name() === 'log') ??
    program.command('log').summary('Operate, check and repair transparency logs')
  const command = group
    .command('rotate-key')
    .description(
      'Rotate the log key, effective immediately. The old one signs beside it during the overlap, and vouches for it with ' +
        'the operator wallet (OPERATOR_KEY; in demo mode the demo operator). Revoke a stolen one with `assay keys revoke`.',
    )
    .option('--overlap <minutes>', 'time for which the old key signs beside the new one', minutesOf, weekMinutes)
  completeRotation(command, context, 'log')
}
