import type { Command } from 'commander'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { nodeOption, nodeUrl, walletArgument } from '../commerce/node-url.ts'
import { usageError } from '../exit-codes.ts'
import { withOperator } from '../operator/connect.ts'

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
    .option('--demo', 'use the buyer wallet that a demo node on this machine lends')
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
    .summary('pay in once, draw on it call by call')
    .description('Credit is paid in with one transaction; signed requests are then paid from it without any.')
  addTopUp(group, context)
  group
    .command('balance')
    .description('what a wallet can draw on, what is held, locked or not final, and its refunds')
    .argument('<wallet>', 'its address')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (wallet: string, options: { node: string; json?: boolean }) =>
      (await import('./run-credit.ts')).showBalance(
        context,
        nodeUrl(options.node),
        walletArgument(wallet),
        options.json,
      ),
    )
  withWallet(group.command('call').description('buy one answer from credit, your own or that of a mandate'))
    .argument('<url>', 'address of the answer; a path is taken from --url')
    .option('--mandate <id>', 'draw on the credit of whoever gave this mandate')
    .requiredOption('--max-amount <usd>', 'the most the call may cost')
    .option('--dry-run', 'show the price and draw nothing')
    .option('-y, --yes', 'do not ask')
    .action(async (url: string, options) => (await import('./run-credit.ts')).runCall(context, url, options))
  withWallet(group.command('refund').description('send credit back to the wallet, on the chain where it paid in'))
    .option('--usd <usd>', 'a part of it; all that can leave unless told')
    .option('--on <chain>', 'base or polygon; needed with --usd')
    .action(async (options) => (await import('./run-credit.ts')).runRefund(context, nodeUrl(options.node), options))
  withWallet(group.command('bond').description('lock a part of the credit, so that the wallet’s word counts for more'))
    .argument('<usd>', 'how much')
    .requiredOption('--days <n>', 'for how long at least')
    .option('--on <chain>', 'where the credit lies: base or polygon', 'base')
    .action(async (usd: string, options) => {
      const days = daysOf(options.days)
      await (await import('./run-credit.ts')).runBond(context, nodeUrl(options.node), usd, { ...options, days })
    })
  withWallet(group.command('release').description('ask for a bond back; it follows after a delay'))
    .argument('<bond>', 'its id, from `assay credit bonds`')
    .action(async (bond: string, options) =>
      (await import('./run-credit.ts')).runRelease(context, nodeUrl(options.node), bond, options),
    )
  group
    .command('bonds')
    .description('what a wallet has at stake')
    .argument('<wallet>', 'its address')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (wallet: string, options: { node: string; json?: boolean }) =>
      (await import('./run-credit.ts')).showBonds(context, nodeUrl(options.node), walletArgument(wallet), options.json),
    )
}

const addTopUp: AddCommand = (group, context) => {
  withWallet(group.command('topup').description('pay USDC in, from 1 to 1000 USD'))
    .argument('<usd>', 'how much')
    .option('--on <chain>', 'where to pay: base or polygon', 'base')
    .option('--max-amount <usd>', 'the most it may cost; the amount itself unless told')
    .option('--dry-run', 'show the price and sign nothing')
    .option('-y, --yes', 'do not ask')
    .action(async (usd: string, options) => (await import('./run-credit.ts')).runTopUp(context, usd, options))
}

const addMandateGroup: AddCommand = (program, context) => {
  const group = program
    .command('mandate')
    .summary('let another wallet draw on your credit, within limits')
    .description(
      'A mandate is signed by the owner of the credit and names who may draw, for what, how much, until when.',
    )
  withWallet(group.command('create').description('sign a mandate and present it to the node'))
    .requiredOption('--delegate <wallet>', 'who may draw')
    .option(
      '--route <pattern>',
      'a route id or path, such as sandbox.echo.* or /v1/report/*; may be repeated',
      collect,
      [],
    )
    .requiredOption('--per-call <usd>', 'the most one call may cost')
    .requiredOption('--per-day <usd>', 'the most in one UTC day')
    .requiredOption('--total <usd>', 'the most in all')
    .option('--days <n>', 'how long it counts', '30')
    .addHelpText(
      'after',
      '\nExample:\n  assay mandate create --demo --delegate 0x… --route "sandbox.echo.*" --per-call 0.01 --per-day 0.5 --total 1',
    )
    .action(async (options) => {
      if (options.route.length === 0) throw usageError('a mandate names at least one --route', '"*" stands for any.')
      const days = daysOf(options.days)
      const delegate = walletArgument(options.delegate)
      await (await import('./run-mandate.ts')).runCreate(context, nodeUrl(options.node), { ...options, days, delegate })
    })
  withWallet(group.command('list').description('those the wallet gave or was given'))
    .option('--all', 'also those that ended')
    .action(async (options) => (await import('./run-mandate.ts')).runList(context, nodeUrl(options.node), options))
  withWallet(group.command('revoke').description('the next draw under it is refused'))
    .argument('<mandate>', 'its id')
    .action(async (id: string, options) =>
      (await import('./run-mandate.ts')).runRevoke(context, nodeUrl(options.node), id, options),
    )
}

const addBondOperator: AddCommand = (program, context) => {
  program
    .command('bond')
    .summary('what an operator does about bonds')
    .command('slash')
    .description(
      'Takes a bond, or a part of it, for an upheld ruling: once per ruling, posted and kept in the audit log.',
    )
    .argument('<bond>', 'its id')
    .requiredOption('--ruling <reference>', 'the upheld ruling')
    .requiredOption('--reason <text>', 'why; it is kept in the audit log')
    .option('--usd <usd>', 'a part of it; all that is left unless told')
    .option('-y, --yes', 'do not ask')
    .option(...jsonOption)
    .action((id: string, options: { ruling: string; reason: string; usd?: string; yes?: boolean; json?: boolean }) =>
      withOperator(context.terminal, async (operator) =>
        (await import('./run-slash.ts')).runSlash(context, operator, id, options),
      ),
    )
}
