import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { networkNames } from './network-names.ts'
import type { BuyOptions } from './run-buy.ts'

const collect = (value: string, earlier: string[]) => [...earlier, value]

export const addBuy: AddCommand = (program, context) => {
  program
    .command('buy')
    .summary('pay for one request and get its answer')
    .description(
      'Asks for the price, shows it, pays, checks the signature and the receipt, and prints the answer.\n' +
        'The payment is bound to the request, and every retry sends the same payment, so a lost answer never costs twice.\n' +
        'The answer goes to standard output, everything else to standard error.',
    )
    .argument('[url]', 'what to buy; quote it, for & and ? mean something to the shell')
    .option('-X, --method <method>', 'HTTP method (GET, or POST with --data)')
    .option('-d, --data <text>', 'request body: the text itself, @file, or @- for standard input')
    .option('-H, --header <line>', 'request header such as "Accept: text/csv"; may be repeated', collect, [])
    .option('--network <name>', `where to pay: ${Object.keys(networkNames).join(', ')}`)
    .option('--demo', 'pay with the buyer wallet that a demo node on this machine lends')
    .option('--key-file <path>', 'file with the private key of the wallet that pays')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option('--max-amount <usd>', 'the most this purchase may cost; required unless somebody can be asked, or --demo')
    .option('--dry-run', 'show the price and sign nothing')
    .option('-y, --yes', 'do not ask; needs --max-amount')
    .option('--out <file>', 'write the answer there')
    .option('--save <file>', 'write evidence there, which `assay verify` checks offline')
    .option('--resume <file>', 'go on with a purchase whose end was not known')
    .option('--wait <seconds>', 'how long to wait for a settlement', '90')
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
