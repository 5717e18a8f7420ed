import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { withOperator } from '../operator/connect.ts'

/** What an operator does about money that leaves: payouts, refunds, and who subscribed. */
export const addCommerceOperator: AddCommand = (program, context) => {
  addPayouts(program, context)
  addRefund(program, context)
  addSubscriptions(program, context)
}

const limitOf = (text: string): number => {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw usageError(`--limit: not a number from 1 to 9999: ${text}`)
  return Number(text)
}

const addPayouts: AddCommand = (program, context) => {
  const group = program
    .command('payouts')
    .summary('money on its way to affiliates, creators and refunded buyers')
    .description('Payouts of the node that the environment configures; a running node sends them.')
  group
    .command('list')
    .description('newest first')
    .option('--state <state>', 'waiting, queued, signed, parked, paid or returned')
    .option('--payee <wallet>', 'only to this wallet')
    .option('--limit <n>', 'how many', '20')
    .option(...jsonOption)
    .action((options: { state?: string; payee?: string; limit: string; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-payouts.ts')).listAll(context, operator, { ...options, limit: limitOf(options.limit) }),
      ),
    )
  group
    .command('approve')
    .description('let a payout go on that waits for approval, or whose payee was blocked')
    .argument('<payout>', 'from `assay payouts list`')
    .option(...jsonOption)
    .action((id: string, options: { json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-payouts.ts')).approve(context, operator, id, options.json),
      ),
    )
  for (const [name, on] of [
    ['pause', true],
    ['resume', false],
  ] as const)
    group
      .command(name)
      .description(on ? 'send nothing until resumed; what is on its way ends as the chain decides' : 'send again')
      .requiredOption('--reason <text>', 'why; it is kept in the audit log')
      .option(...jsonOption)
      .action((options: { reason: string; json?: boolean }) =>
        withOperator(context.terminal, async (operator) =>
          (await import('./run-payouts.ts')).pause(context, operator, on, options),
        ),
      )
  addAcceptLoss(group, context)
}

const addAcceptLoss: AddCommand = (group, context) => {
  group
    .command('accept-loss')
    .description('book money that is missing at the custody wallet as lost, and let payouts go on')
    .argument('<network>', 'such as eip155:8453')
    .requiredOption('--reason <text>', 'why; it is kept in the audit log')
    .option(...jsonOption)
    .action((network: string, options: { reason: string; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-payouts.ts')).acceptLoss(context, operator, network, options),
      ),
    )
}

const addRefund: AddCommand = (program, context) => {
  program
    .command('refund')
    .summary('give a buyer its money back')
    .description(
      'Once per payment, at most what was paid, to the payer on the chain where it paid. Every share of the sale is taken ' +
        'back in proportion; a full refund also takes back what was bought, where it can be. A running node carries it out.',
    )
    .argument('<payment>', 'its id, from `assay ledger payments`')
    .requiredOption('--reason <text>', 'why; it is kept in the audit log')
    .option('--amount <usd>', 'a part of the price; all of it unless told')
    .option('--wait <seconds>', 'how long to wait for the transfer', '30')
    .option('-y, --yes', 'do not ask')
    .option(...jsonOption)
    .action((id: string, options: { reason: string; amount?: string; wait: string; yes?: boolean; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-refund.ts')).runRefund(context, operator, id, options),
      ),
    )
}

const addSubscriptions: AddCommand = (program, context) => {
  program
    .command('subscriptions')
    .summary('who may use the feeds, and until when')
    .command('list')
    .description('the one that ends last first')
    .option('--all', 'also those that have ended')
    .option('--limit <n>', 'how many', '20')
    .option(...jsonOption)
    .action((options: { all?: boolean; limit: string; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-payouts.ts')).listSubscribers(context, operator, {
          ...options,
          limit: limitOf(options.limit),
        }),
      ),
    )
}
