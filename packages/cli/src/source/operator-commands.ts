import { Argument } from 'commander'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { withOperator } from '../operator/connect.ts'
import { choiceOption, reasonOption } from '../read-option.ts'

type Json = { json?: boolean }

/** What an operator does about sources: disputes that were sent in, and domains that must not be one. */
export const addSourceOperator: AddCommand = (source, context) => {
  const disputes = source
    .command('disputes')
    .summary('Decide disputes about sources (operator)')
    .description(
      'Disputes at the node that the environment configures. Who owns a domain is decided by proof, not here.',
    )
  disputes
    .command('list')
    .description('List disputes about sources, oldest first; default: open ones')
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
  disputes
    .command('decide')
    .description(
      'Accept a dispute for review (pending), uphold or reject it; the score follows and the audit log keeps the reason',
    )
    .argument('<dispute>', 'from `assay source disputes list`')
    .addArgument(new Argument('<decision>', 'pending, upheld or rejected').choices(['pending', 'upheld', 'rejected']))
    .requiredOption(reasonOption[0], 'reason, shown with the outcome', reasonOption[2])
    .option(...jsonOption)
    .action((id: string, decision: string, options: Json & { reason: string }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-disputes.ts')).decide(context, operator, id, decision, options),
      ),
    )
  for (const verb of ['ban', 'unban'] as const)
    source
      .command(verb)
      .description(
        verb === 'ban'
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
