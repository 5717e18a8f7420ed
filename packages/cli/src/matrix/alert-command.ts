import type { WalletOptions } from '../buy/choose-wallet.ts'
import type { AddCommand } from '../command-context.ts'
import { withSigner } from './signed-options.ts'

export type AlertOptions = WalletOptions & { url: string; webhook?: string; email?: string; json?: boolean }

/** Alerts on market data: rules that the node holds against each new snapshot. */
export const addAlert: AddCommand = (program, context) => {
  const alert = program.command('alert').summary('Set, list and remove alerts on market data')
  withSigner(alert.command('add'))
    .summary('Notify when a value of a feed crosses a threshold')
    .argument('<rule>', 'feed:SYMBOL:field and a limit, such as squeeze:GME:score>=95')
    .option('--webhook <url>', 'https address that gets the events; proven by a challenge first')
    .option('--email <address>', 'mail address that gets them')
    .addHelpText('after', examples)
    .action(async (rule: string, options: AlertOptions) =>
      (await import('./run-alert.ts')).addRule(context, rule, options),
    )
  withSigner(alert.command('list'))
    .summary('List the alerts, endpoints and latest deliveries of a wallet')
    .action(async (options: AlertOptions) => (await import('./run-alert.ts')).listRules(context, options))
  withSigner(alert.command('remove'))
    .summary('Remove an alert, or an endpoint with all its alerts')
    .argument('<id>', 'nwt_… or nep_…')
    .action(async (id: string, options: AlertOptions) =>
      (await import('./run-alert.ts')).removeRule(context, id, options),
    )
}

const examples = `
Rules:
  squeeze:GME:score>=95     any figure that the live tier shows, with >=, <=, > or <
  squeeze:GME:rank~25       the rank moved by 25 places or more
  threshold:GME:entered     new on a threshold list; threshold:*:entered for any symbol

Example:
  assay alert add 'borrow:GME:fee_pct>50' --webhook https://example.com/hook --demo`
