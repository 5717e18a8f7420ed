import { type AddCommand, jsonOption } from '../command-context.ts'
import { addressText, choiceOption, limitOption, timeText } from '../read-option.ts'
import { withOperator } from './connect.ts'
import { paymentStates } from './payment-states.ts'

export const addLedger: AddCommand = (program, context) => {
  const group = program
    .command('ledger')
    .summary('Read and verify the ledger of a node')
    .description(
      'Read the ledger of the node that the environment configures; it may be running. Amounts of USDC are shown in ' +
        'dollars, gas in gwei, points as they are counted; in JSON they are whole micro-USDC, gwei or points. A balance ' +
        'is positive on the side where accounts of its kind have theirs: debit for what is owned and spent, credit for ' +
        'what is owed and earned.',
    )
  addBalances(group, context)
  addTrial(group, context)
  addEntries(group, context)
  addVerifyBooks(group, context)
  addPayments(group, context)
}

const addBalances: AddCommand = (group, context) => {
  group
    .command('balances')
    .description('Print the balance of every account, or of those with a name prefix')
    .argument('[prefix]', 'such as revenue: or credit:0x…')
    .option(...jsonOption)
    .action((prefix: string | undefined, options: { json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./show-balances.ts')).showBalances(context, operator, { ...options, prefix: prefix ?? '' }),
      ),
    )
}

const addTrial: AddCommand = (group, context) => {
  group
    .command('trial')
    .alias('trial-balance')
    .description('Print the trial balance and check that each unit sums to zero')
    .option('--at <time>', 'as of a past time, RFC 3339', timeText)
    .option(...jsonOption)
    .action((options: { at?: string; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./show-balances.ts')).showTrial(context, operator, {
          ...options,
          at: options.at === undefined ? undefined : new Date(options.at),
        }),
      ),
    )
}

const addEntries: AddCommand = (group, context) => {
  group
    .command('entries')
    .description('Print the entries of an account, newest first')
    .argument('<account>', 'a name from `assay ledger balances`')
    .option(...limitOption)
    .option('--before <cursor>', 'the page after the one that ended with this cursor')
    .option(...jsonOption)
    .action((account: string, options: { limit: number; before?: string; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./show-entries.ts')).showEntries(context, operator, {
          ...options,
          account,
        }),
      ),
    )
}

const addVerifyBooks: AddCommand = (group, context) => {
  group
    .command('verify')
    .description(
      'Recompute the seals of ledger and audit log and compare stored balances with the entries. Shows what clearing ' +
        'accounts still hold; exit code 5 on a mismatch.',
    )
    .option('--archive <folder>', 'where `assay archive` wrote what left the database')
    .option(...jsonOption)
    .action((options: { archive?: string; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./verify-books.ts')).verifyBooks(context, operator, options),
      ),
    )
}

const addPayments: AddCommand = (group, context) => {
  group
    .command('payments')
    .description('Count payments by state and list the newest')
    .addOption(choiceOption('--state <state>', `only one of ${paymentStates.join(', ')}`, paymentStates))
    .option('--payer <address>', 'only of this wallet', addressText)
    .option(...limitOption)
    .option(...jsonOption)
    .action((options: { state?: string; payer?: string; limit: number; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./list-payments.ts')).listPayments(context, operator, {
          ...options,
        }),
      ),
    )
}
