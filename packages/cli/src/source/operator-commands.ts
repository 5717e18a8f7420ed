import { Argument } from 'commander'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { withOperator } from '../operator/connect.ts'
import { choiceOption, reasonOption } from '../read-option.ts'

type Json = { json?: boolean }

/** What an operator does about sources: contests that were sent in, and domains that must not be one. */
export const addSourceOperator: AddCommand = (program, context) => {
  const dispute = program
    .command('dispute')
    .summary('Decide disputes about sources (operator)')
    .description(
      'Contests of the node that the environment configures. Who owns a domain is decided by proof, not here.',
    )
  dispute
    .command('list')
    .description('List disputes, oldest first; default: open ones')
    .addOption(
      choiceOption('--state <state>', 'received, pending, upheld or rejected', [
        'received',
        'pending',
        'upheld',
        'rejected',
      ]),
    )
    .option('--domain <domain>', 'only of this domain')
    .option(...jsonOption)
    .action((options: Json & { state?: string; domain?: string }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-disputes.ts')).listAll(context, operator, options),
      ),
    )
  dispute
    .command('decide')
    .description(
      'Accept a dispute for review (pending), uphold or reject it; the score follows and the audit log keeps the reason',
    )
    .argument('<dispute>', 'from `assay dispute list`')
    .addArgument(new Argument('<decision>', 'pending, upheld or rejected').choices(['pending', 'upheld', 'rejected']))
    .requiredOption(reasonOption[0], 'reason, shown with the outcome', reasonOption[2])
    .option(...jsonOption)
    .action((id: string, decision: string, options: Json & { reason: string }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-disputes.ts')).decide(context, operator, id, decision, options),
      ),
    )
  for (const verb of ['refuse', 'admit'] as const)
    dispute
      .command(verb)
      .description(
        verb === 'refuse'
          ? 'Ban a harmful domain: score 0, payouts held, pages no longer offered'
          : 'Lift the ban of a domain',
      )
      .argument('<domain>')
      .requiredOption(reasonOption[0], 'reason, shown with the state', reasonOption[2])
      .option(...jsonOption)
      .action((domain: string, options: Json & { reason: string }) =>
        withOperator(context.terminal, async (operator) =>
          (await import('./run-disputes.ts')).changeState(context, operator, verb, domain, options),
        ),
      )
}
