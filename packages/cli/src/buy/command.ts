import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { networkNames } from './network-names.ts'
import type { BuyOptions } from './run-buy.ts'

const collect = (value: string, earlier: string[]) => [...earlier, value]

export const addBuy: AddCommand = (program, context) => {
  program
    .command('buy')
    .summary('Pay for one request and print the answer')
    .description(
      'Ask for the price, show it, pay, verify the signature and the receipt, and print the answer.\n' +
        'The payment is bound to the request, and every retry sends the same payment, so a lost answer never costs twice.\n' +
        'The answer goes to standard output, everything else to standard error.',
    )
    .argument('[url]', 'URL to buy; quote it, because the shell interprets & and ?')
    .option('-X, --method <method>', 'HTTP method (GET, or POST with --data)')
    .option('-d, --data <text>', 'request body: the text itself, @file, or @- for standard input')
    .option('-H, --header <line>', 'request header such as "Accept: text/csv"; may be repeated', collect, [])
    .option('--network <name>', `where to pay: ${Object.keys(networkNames).join(', ')}`)
    .option('--usdc <address>', 'USDC contract of a test chain; needs --network')
    .option('--demo', 'pay with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that pays')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option('--max-amount <usd>', 'maximum price; required without a terminal, except with --demo')
    .option('--dry-run', 'show the price and sign nothing')
    .option('-y, --yes', 'do not ask for confirmation; needs --max-amount')
    .option('--out <file>', 'write the answer to this file')
    .option('--save <file>', 'write an evidence file for `assay verify`')
    .option('--resume <file>', 'resume a purchase whose outcome was not known')
    .option('--wait <seconds>', 'maximum time to wait for settlement', '90')
    .option('--allow-unsigned', 'also buy from sellers that do not sign their answers')
    .option(...jsonOption)
    .addHelpText('after', examples)
    .action(async (url: string | undefined, options: BuyOptions & { resume?: string }) => {
      // Loaded when needed: help and wrong use answer at once.
      if (options.resume !== undefined)
        return (await import('./resume-buy.ts')).resumeBuy(context, options.resume, options)
      if (url === undefined) throw usageError('what shall be bought? Give a URL', 'assay buy --help shows examples.')
      const { runBuy } = await import('./run-buy.ts')
      await runBuy(context, url, options)
    })
}

const examples = `
The key is read from ASSAY_KEY unless --key-file, --key-env or --demo says otherwise.

Examples:
  assay buy "http://127.0.0.1:4020/v1/sandbox/echo?message=hello" --demo
  assay buy "https://api.example.org/v1/report/0x…" --max-amount 0.05 --save report.json
  assay buy https://api.example.org/v1/match -d '{"query":"rates"}' --max-amount 0.01 --network polygon --json
  assay buy "https://api.example.org/matrix/gme/live" --dry-run`
