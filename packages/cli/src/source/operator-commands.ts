import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { withOperator } from '../operator/connect.ts'

type Json = { json?: boolean }

const reasonOf = (text: string): string => {
  if (text.trim() === '') throw usageError('--reason must say something')
  return text
}

/** What an operator does about sources: contests that were sent in, and domains that must not be one. */
export const addSourceOperator: AddCommand = (program, context) => {
  const dispute = program
    .command('dispute')
    .summary('contests of sources that wait for the operator')
    .description(
      'Contests of the node that the environment configures. Who owns a domain is decided by proof, not here.',
    )
  dispute
    .command('list')
    .description('oldest first; those that wait unless told')
    .option('--state <state>', 'received, pending, upheld or rejected')
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
      'take a contest up (pending), uphold it or reject it; the score follows, and the audit log keeps the reason',
    )
    .argument('<dispute>', 'from `assay dispute list`')
    .argument('<decision>', 'pending, upheld or rejected')
    .requiredOption('--reason <text>', 'why; shown with the outcome')
    .option(...jsonOption)
    .action((id: string, decision: string, options: Json & { reason: string }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-disputes.ts')).decide(context, operator, id, decision, {
          ...options,
          reason: reasonOf(options.reason),
        }),
      ),
    )
  for (const verb of ['refuse', 'admit'] as const)
    dispute
      .command(verb)
      .description(
        verb === 'refuse'
          ? 'take a harmful domain out: score 0, payouts held, pages no longer offered'
          : 'take a refused domain back',
      )
      .argument('<domain>')
      .requiredOption('--reason <text>', 'why; shown as the reason of the state')
      .option(...jsonOption)
      .action((domain: string, options: Json & { reason: string }) =>
        withOperator(context.terminal, async (operator) =>
          (await import('./run-disputes.ts')).changeState(context, operator, verb, domain, {
            ...options,
            reason: reasonOf(options.reason),
          }),
        ),
      )
}
