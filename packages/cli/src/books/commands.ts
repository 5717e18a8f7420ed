import { type AddCommand, jsonOption } from '../command-context.ts'
import { withOperator } from '../operator/connect.ts'
import { choiceOption, dayText } from '../read-option.ts'
import type { ExportOptions } from './run-export.ts'
import type { RevenueOptions } from './run-revenue.ts'

/** What an operator and its accountant read. */
export const addBooks: AddCommand = (program, context) => {
  program
    .command('revenue')
    .summary('Show what was earned and what it cost, per shop and day')
    .description(
      'Days in UTC, both included. A shop is the first word of the id of its routes. Gross is the part of sales that is ' +
        "the operator's own; net is what is left after refunds, fees of facilitators, affiliates and losses. Gas is in " +
        'gwei of its chain; with --coin-usd it is also valued, and taken from net.',
    )
    .option('--from <day>', 'first day; default: 30 days ago', dayText)
    .option('--to <day>', 'last day; default: today', dayText)
    .option('--coin-usd <prices>', 'price of the coin of each chain, such as eip155:8453=3000,eip155:137=0.40')
    .option('--csv', 'print CSV')
    .option(...jsonOption)
    .action((options: RevenueOptions) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-revenue.ts')).showRevenue(context, operator, options),
      ),
    )
  program
    .command('books')
    .summary('Export the books for an accountant')
    .command('export')
    .description('Write every posting as double entry, Beancount or CSV, as it is read')
    .addOption(choiceOption('--format <format>', 'beancount or csv', ['beancount', 'csv']).default('beancount'))
    .option('--from <day>', 'first day in UTC; earlier postings become opening balances', dayText)
    .option('--to <day>', 'last day; default: today', dayText)
    .action((options: ExportOptions) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-export.ts')).exportBooks(context, operator, options),
      ),
    )
}
