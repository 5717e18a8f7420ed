import type { WalletOptions } from '../buy/choose-wallet.ts'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { nodeOption } from '../find-node.ts'

export type SubscriptionOptions = WalletOptions & {
  url: string
  product?: 'feeds' | 'stream'
  months?: string
  mandate?: string
  maxAmount?: string
  dryRun?: boolean
  yes?: boolean
  json?: boolean
}

/** What a subscriber changes: renewal, pause, upgrade. */
export const addSubscription: AddCommand = (program, context) => {
  const group = program.command('subscription').summary('List and change the subscriptions of a wallet')
  const signed = (name: string, summary: string) =>
    group
      .command(name)
      .summary(summary)
      .option(...nodeOption)
      .option('--product <name>', 'feeds or stream', 'feeds')
      .option('--demo', 'sign with the buyer wallet of a demo node on this machine')
      .option('--key-file <path>', 'file with the private key of the wallet that signs')
      .option('--key-env <name>', 'environment variable with that key')
      .option(...jsonOption)
  const run = () => import('./run-subscription.ts')
  signed('list', 'List tier, end, pause and renewal of each').action(async (options: SubscriptionOptions) =>
    (await run()).listOwn(context, options),
  )
  signed('renew', 'Renew from credit at the end of each period, under a mandate')
    .option('--months <count>', 'sign a mandate for so many periods', '12')
    .option('--mandate <id>', 'use this mandate instead of signing one')
    .action(async (options: SubscriptionOptions) => (await run()).renew(context, options))
  signed('cancel', 'End it at the end of what is paid for').action(async (options: SubscriptionOptions) =>
    (await run()).change(context, 'subscriptions.cancel', options),
  )
  signed('pause', 'Pause it for 7 to 90 days').action(async (options: SubscriptionOptions) =>
    (await run()).change(context, 'subscriptions.pause', options),
  )
  signed('resume', 'Resume it').action(async (options: SubscriptionOptions) =>
    (await run()).change(context, 'subscriptions.resume', options),
  )
  signed('upgrade', 'Change standard to vip for the difference of the time left, from credit')
    .option('--max-amount <usd>', 'maximum price; default: the current price')
    .option('--dry-run', 'show the price and change nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .action(async (options: SubscriptionOptions) => (await run()).upgrade(context, options))
}
