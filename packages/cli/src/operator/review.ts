import { InvalidArgumentError } from 'commander'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { limitOption } from '../read-option.ts'
import { withOperator } from './connect.ts'
import type { DecideOptions } from './run-review.ts'

/** Money that came and that no payment explains: nobody can tell what it was for, so an operator decides. */
export const addReview: AddCommand = (program, context) => {
  const group = program
    .command('review')
    .summary('List and decide transfers that no payment explains')
    .description(
      'Transfers to addresses of the node that no payment explains, with those between a backup and its restore.',
    )
  group
    .command('list')
    .description('List transfers that nobody has decided, oldest first')
    .option(...limitOption)
    .option(...jsonOption)
    .action((options: { limit: number; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-review.ts')).listAll(context, operator, options),
      ),
    )
  group
    .command('decide')
    .description('Make a transfer credit of its sender, or revenue; once, and kept in the audit log')
    .argument('<transfer>', 'its number in `assay review list`', transferNumber)
    .option('--credit', 'add it to the credit of its sender')
    .option('--revenue', "it is the operator's: a gift, or the operator's own money")
    .option('--note <text>', 'kept in the audit log and with the posting', limitedText)
    .option(...jsonOption)
    .action((transfer: bigint, options: DecideOptions) => {
      if ((options.credit === true) === (options.revenue === true))
        throw usageError('give either --credit or --revenue')
      return withOperator(context.terminal, async (operator) =>
        (await import('./run-review.ts')).decide(context, operator, transfer, options),
      )
    })
}

function transferNumber(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('It must be a number from `assay review list`.')
  return BigInt(text)
}

function limitedText(text: string): string {
  if (text.trim() === '' || text.length > 500) throw new InvalidArgumentError('It must have 1 to 500 characters.')
  return text.trim()
}
