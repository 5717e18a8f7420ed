import type { Command } from 'commander'
import { networkHelp } from '../buy/network-names.ts'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { nodeUrl, walletArgument } from '../commerce/node-url.ts'
import { usageError } from '../exit-codes.ts'
import { nodeOption } from '../find-node.ts'
import { withOperator } from '../operator/connect.ts'
import { reasonOption } from '../read-option.ts'

/** Prepaid credit, who else may draw on it, and what of it is at stake. */
export const addCredit: AddCommand = (program, context) => {
  addCreditGroup(program, context)
  addMandateGroup(program, context)
  addBondOperator(program, context)
}

const collect = (value: string, earlier: string[]) => [...earlier, value]

const withWallet = (command: Command): Command =>
  command
    .option(...nodeOption)
    .option('--demo', 'use the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option(...jsonOption)

const daysOf = (text: string): number => {
  if (!/^[1-9]\d{0,2}$/.test(text) || Number(text) > 366) throw usageError(`--days: not from 1 to 366: ${text}`)
  return Number(text)
}

const addCreditGroup: AddCommand = (program, context) => {
  const group = program
    .command('credit')
    .summary('Top up a balance and pay from it per call')
    .description('Top up once with a transaction; signed requests are then paid from the balance without one.')
  addTopUp(group, context)
  group
    .command('balance')
    .description('Show the credit balance: available, held, locked, not final, and refunds')
    .argument('<wallet>', 'its address')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (wallet: string, options: { url: string; json?: boolean }) =>
      (await import('./run-credit.ts')).showBalance(
        context,
        nodeUrl(options.url),
        walletArgument(wallet),
        options.json,
      ),
    )
  withWallet(group.command('call').description('Buy one answer from your credit, or from a mandate'))
    .argument('<url>', 'address of the answer; a path is taken from --url')
    .option('--mandate <id>', 'charge the credit of this mandate’s owner')
    .requiredOption('--max-amount <usd>', 'maximum price of the call')
    .option('--idempotency-key <key>', 'name of the call: sent again, it is drawn once and answered as before')
    .option('--dry-run', 'show the price and charge nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .action(async (url: string, options) => (await import('./run-credit.ts')).runCall(context, url, options))
  withWallet(group.command('refund').description('Send credit back to the wallet, on the chain it was paid in on'))
    .option('--usd <usd>', 'amount; default: all that can be refunded')
    .option('--on <chain>', `${networkHelp}; needed with --usd`)
    .action(async (options) => (await import('./run-credit.ts')).runRefund(context, nodeUrl(options.url), options))
  withWallet(group.command('bond').description('Lock credit as a bond, which raises the weight of the wallet'))
    .argument('<usd>', 'amount')
    .requiredOption('--days <n>', 'minimum duration')
    .option('--on <chain>', `chain of the credit: ${networkHelp}`, 'base')
    .action(async (usd: string, options) => {
      const days = daysOf(options.days)
      await (await import('./run-credit.ts')).runBond(context, nodeUrl(options.url), usd, { ...options, days })
    })
  withWallet(group.command('release').description('Release a bond after its delay'))
    .argument('<bond>', 'its id, from `assay credit bonds`')
    .action(async (bond: string, options) =>
      (await import('./run-credit.ts')).runRelease(context, nodeUrl(options.url), bond, options),
    )
  group
    .command('bonds')
    .description('List the bonds of a wallet')
    .argument('<wallet>', 'its address')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (wallet: string, options: { url: string; json?: boolean }) =>
      (await import('./run-credit.ts')).showBonds(context, nodeUrl(options.url), walletArgument(wallet), options.json),
    )
}

const addTopUp: AddCommand = (group, context) => {
  withWallet(group.command('topup').description('Top up with USDC, 1 to 1000 USD'))
    .argument('<usd>', 'amount')
    .option('--on <chain>', `network to pay on: ${networkHelp}`, 'base')
    .option('--usdc <address>', 'USDC contract of a chain that is not known here')
    .option('--max-amount <usd>', 'maximum price; default: the amount')
    .option('--dry-run', 'show the price and sign nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .action(async (usd: string, options) => (await import('./run-credit.ts')).runTopUp(context, usd, options))
}

const addMandateGroup: AddCommand = (program, context) => {
  const group = program
    .command('mandate')
    .summary('Let another wallet spend your credit, within limits')
    .description(
      'A mandate is signed by the owner of the credit and names who may draw, for what, how much, until when.',
    )
  withWallet(group.command('create').description('Sign a mandate and send it to the node'))
    .requiredOption('--delegate <wallet>', 'wallet that may spend')
    .option(
      '--route <pattern>',
      'a route id or path, such as sandbox.echo.* or /v1/report/*; may be repeated',
      collect,
      [],
    )
    .requiredOption('--per-call <usd>', 'maximum price of one call')
    .requiredOption('--per-day <usd>', 'maximum per UTC day')
    .requiredOption('--total <usd>', 'maximum in total')
    .option('--days <n>', 'validity in days', '30')
    .addHelpText(
      'after',
      '\nExample:\n  assay mandate create --demo --delegate $WALLET --route "sandbox.echo.*" --per-call 0.01 --per-day 0.5 --total 1',
    )
    .action(async (options) => {
      if (options.route.length === 0) throw usageError('a mandate names at least one --route', '"*" stands for any.')
      const days = daysOf(options.days)
      const delegate = walletArgument(options.delegate)
      await (await import('./run-mandate.ts')).runCreate(context, nodeUrl(options.url), { ...options, days, delegate })
    })
  withWallet(group.command('list').description('List mandates given by or to the wallet'))
    .option('--all', 'include ended ones')
    .action(async (options) => (await import('./run-mandate.ts')).runList(context, nodeUrl(options.url), options))
  withWallet(group.command('revoke').description('Revoke a mandate; the next charge is refused'))
    .argument('<mandate>', 'its id')
    .action(async (id: string, options) =>
      (await import('./run-mandate.ts')).runRevoke(context, nodeUrl(options.url), id, options),
    )
}

const addBondOperator: AddCommand = (program, context) => {
  program
    .command('bond')
    .summary('Slash bonds (operator)')
    .command('slash')
    .description(
      'Slash a bond, or part of it, for an upheld ruling: once per ruling, posted to the ledger and kept in the audit log.',
    )
    .argument('<bond>', 'its id')
    .requiredOption('--ruling <reference>', 'reference of the upheld ruling')
    .requiredOption(...reasonOption)
    .option('--usd <usd>', 'amount; default: all that is left')
    .option('-y, --yes', 'do not ask for confirmation')
    .option(...jsonOption)
    .action((id: string, options: { ruling: string; reason: string; usd?: string; yes?: boolean; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-slash.ts')).runSlash(context, operator, id, options),
      ),
    )
}
