import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { withOperator } from '../operator/connect.ts'
import { addressText, choiceOption, limitOption, reasonOption, usdText, wholeOf } from '../read-option.ts'
import type { WithdrawOptions } from './run-withdraw.ts'

/** What an operator does about money that leaves: payouts, refunds, and who subscribed. */
export const addCommerceOperator: AddCommand = (program, context) => {
  addPayouts(program, context)
  addRefund(program, context)
  addSubscriptions(program, context)
}

const states = ['waiting', 'queued', 'signed', 'parked', 'paid', 'returned']

const waitOption = [
  '--wait <seconds>',
  'maximum time to wait for the transfer',
  (text: string) => wholeOf(text, 0, 3_600),
  30,
] as const

const addPayouts: AddCommand = (program, context) => {
  const group = program
    .command('payouts')
    .summary('List, approve and pause payouts, withdraw')
    .description('Payouts of the node that the environment configures; a running node sends them.')
  group
    .command('list')
    .description('List payouts, newest first')
    .addOption(choiceOption('--state <state>', 'waiting, queued, signed, parked, paid or returned', states))
    .option('--payee <wallet>', 'only to this wallet', addressText)
    .option(...limitOption)
    .option(...jsonOption)
    .action((options: { state?: string; payee?: string; limit: number; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-payouts.ts')).listAll(context, operator, options),
      ),
    )
  group
    .command('approve')
    .description('Approve a payout that waits for approval or whose payee was blocked')
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
      .description(
        on ? 'Stop sending payouts; transactions already sent are not affected' : 'Start sending payouts again',
      )
      .requiredOption(...reasonOption)
      .option(...jsonOption)
      .action((options: { reason: string; json?: boolean }) =>
        withOperator(context.terminal, async (operator) =>
          (await import('./run-payouts.ts')).pause(context, operator, on, options),
        ),
      )
  addAcceptLoss(group, context)
  addWithdraw(group, context)
}

const addAcceptLoss: AddCommand = (group, context) => {
  group
    .command('accept-loss')
    .description('Post money that is missing from the custody wallet as a loss and resume payouts')
    .argument('<network>', 'such as eip155:8453')
    .requiredOption(...reasonOption)
    .option(...jsonOption)
    .action((network: string, options: { reason: string; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-payouts.ts')).acceptLoss(context, operator, network, options),
      ),
    )
}

const addWithdraw: AddCommand = (group, context) => {
  group
    .command('withdraw')
    .summary("Withdraw the operator's own money from custody")
    .description(
      'Send what nobody else has a claim to from CUSTODY to an address of WITHDRAW_TO. A running node executes it, and ' +
        'refuses more than can be withdrawn.',
    )
    .requiredOption('--to <address>', 'one of WITHDRAW_TO', addressText)
    .option('--amount <usd>', 'amount to withdraw', usdText)
    .option('--all', 'withdraw all that can be withdrawn')
    .option('--network <network>', 'such as eip155:8453; default: the first of the node')
    .option(...waitOption)
    .option('-y, --yes', 'do not ask for confirmation')
    .option(...jsonOption)
    .action((options: WithdrawOptions) => {
      if ((options.amount === undefined) === (options.all !== true)) throw usageError('give either --amount or --all')
      return withOperator(context.terminal, async (operator) =>
        (await import('./run-withdraw.ts')).withdraw(context, operator, options),
      )
    })
  group
    .command('withdrawable')
    .description('Show what can be withdrawn from custody, what the rest is for, and the newest withdrawals')
    .option(...jsonOption)
    .action((options: { json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-withdraw.ts')).showWithdrawable(context, operator, options),
      ),
    )
}

const addRefund: AddCommand = (program, context) => {
  program
    .command('refund')
    .summary('Refund a payment')
    .description(
      'Once per payment, at most what was paid, to the payer on the chain where it paid. Every share of the sale is ' +
        'reversed in proportion; a full refund also revokes what was bought, where possible. A running node executes it.',
    )
    .argument('<payment>', 'its id, from `assay ledger payments`')
    .requiredOption(...reasonOption)
    .option('--amount <usd>', 'amount to refund; default: all', usdText)
    .option(...waitOption)
    .option('-y, --yes', 'do not ask for confirmation')
    .option(...jsonOption)
    .action((id: string, options: { reason: string; amount?: string; wait: number; yes?: boolean; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-refund.ts')).runRefund(context, operator, id, options),
      ),
    )
}

const addSubscriptions: AddCommand = (program, context) => {
  program
    .command('subscriptions')
    .summary('List subscriptions')
    .command('list')
    .description('List subscriptions, latest end first')
    .option('--all', 'include ended ones')
    .option(...limitOption)
    .option(...jsonOption)
    .action((options: { all?: boolean; limit: number; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-payouts.ts')).listSubscribers(context, operator, options),
      ),
    )
}
