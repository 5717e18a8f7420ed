import { type AddCommand, jsonOption } from '../command-context.ts'
import { nodeUrl, walletArgument } from '../commerce/node-url.ts'
import { usageError } from '../exit-codes.ts'
import { nodeOption } from '../find-node.ts'
import { addSourceOperator } from './operator-commands.ts'
import type { TermsOptions } from './run-terms.ts'

type Options = {
  url: string
  wallet?: string
  contact?: string
  sitemap?: string
  keyFile?: string
  keyEnv?: string
  sign?: boolean
  json?: boolean
}

/** What a creator does: register a domain, prove it, follow its score. */
export const addSource: AddCommand = (program, context) => {
  const source = program.command('source').summary('Register and prove a domain, show its CiteScore')
  source
    .command('register')
    .description('Register a domain, free, and print the three ways to prove it with the exact values to publish.')
    .argument('<domain>', 'such as example.com')
    .requiredOption('--wallet <address>', 'payout wallet on Base')
    .option('--contact <text>', 'contact address; never published')
    .option('--sitemap <url>', 'URL of the sitemap')
    .option(...nodeOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay source register example.com --wallet $WALLET')
    .action(async (domain: string, options: Options) => {
      if (options.wallet === undefined) throw usageError('--wallet is missing')
      const { runRegister } = await import('./run-source.ts')
      await runRegister(context, nodeUrl(options.url), { ...options, domain, wallet: walletArgument(options.wallet) })
    })
  source
    .command('verify')
    .description('Check the proof now. With --sign the payout wallet signs too.')
    .argument('<domain>')
    .option('--wallet <address>', 'wallet of the claim')
    .option('--sign', 'sign with the payout wallet, whose key is in ASSAY_KEY, --key-file or --key-env')
    .option('--key-file <path>', 'file with the private key of the payout wallet')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (domain: string, options: Options) => {
      const { runVerify } = await import('./run-source.ts')
      await runVerify(context, nodeUrl(options.url), domain, options)
    })
  source
    .command('move')
    .description(
      'Request what the domain earned for an earlier wallet that was lost. Signed with the wallet that the domain names now; ' +
        'the earlier wallet can refuse it on chain.',
    )
    .argument('<domain>')
    .requiredOption('--from <address>', 'the earlier wallet')
    .option('--key-file <path>', 'file with the private key of the payout wallet')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (domain: string, options: Options & { from: string }) => {
      const { runMove } = await import('./run-source.ts')
      await runMove(context, nodeUrl(options.url), domain, { ...options, from: walletArgument(options.from) })
    })
  addTerms(source, context)
  source
    .command('status')
    .description('Show state, score with its parts, and the next step.')
    .argument('<domain>')
    .option('--wallet <address>', 'also show what this claimant has to publish')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (domain: string, options: Options) => {
      const { runStatus } = await import('./run-source.ts')
      await runStatus(context, nodeUrl(options.url), domain, options)
    })
  addSourceOperator(source, context)
}

const addTerms: AddCommand = (source, context) => {
  source
    .command('terms')
    .description(
      'Show what the creator allows and asks for, by path. With --path set one rule, with --remove drop one; signed with the payout wallet.',
    )
    .argument('<domain>')
    .option('--path <path>', 'part of the site the rule is for, such as /news/; the longest that matches decides')
    .option('--no-crawl', 'do not crawl or list pages')
    .option('--no-snippet', 'do not return passages')
    .option('--no-attest', 'no citations are stamped')
    .option('--attest-usd <amount>', 'price of a stamp, 0.005 to 1 USD')
    .option('--content-usd <amount>', 'price of the whole text of a page, 0.0001 to 1 USD')
    .option('--remove <path>', 'remove the rule for this path')
    .option('--key-file <path>', 'file with the private key of the payout wallet')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option(...nodeOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay source terms example.com --path /news/ --attest-usd 0.02')
    .action(async (domain: string, options: Options & TermsOptions) => {
      const { runTerms } = await import('./run-terms.ts')
      await runTerms(context, nodeUrl(options.url), domain, options)
    })
}
