import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { withOperator } from '../operator/connect.ts'
import { choiceOption, limitOption } from '../read-option.ts'
import type { DecideOptions } from './run-payment-disputes.ts'

const states = ['open', 'accepted', 'rejected']

/** What buyers say is wrong with what they paid for. */
export const addPaymentDisputes: AddCommand = (program, context) => {
  const group = program
    .command('disputes')
    .summary('List and decide disputes about paid answers')
    .description('Disputes that payers opened about answers; for those about sources see `assay source disputes`.')
  group
    .command('list')
    .description('List disputes about payments, oldest first; default: open ones')
    .addOption(choiceOption('--state <state>', 'open, accepted or rejected', states).default('open'))
    .option(...limitOption)
    .option(...jsonOption)
    .action((options: { state: string; limit: number; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-payment-disputes.ts')).listDisputes(context, operator, options),
      ),
    )
  group
    .command('show')
    .description('Show a dispute with what the payer says; write its evidence to a file')
    .argument('<dispute>', 'its id, or that of its payment')
    .option('--save <file>', 'write the evidence to this file')
    .option(...jsonOption)
    .action((id: string, options: { save?: string; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-payment-disputes.ts')).showDispute(context, operator, id, options),
      ),
    )
  group
    .command('decide')
    .description('Refund a disputed payment in part or whole, or reject the dispute; the payer sees the reason')
    .argument('<dispute>', 'its id, or that of its payment')
    .option('--refund <usd>', 'amount to refund, or `all`')
    .option('--reject', 'refund nothing')
    .requiredOption('--reason <text>', 'shown to the payer and kept in the audit log')
    .option(...jsonOption)
    .action((id: string, options: DecideOptions) => {
      if ((options.refund === undefined) === (options.reject !== true))
        throw usageError('give either --refund or --reject')
      return withOperator(context.terminal, async (operator) =>
        (await import('./run-payment-disputes.ts')).decide(context, operator, id, options),
      )
    })
}
