import { type AddCommand, jsonOption, rawOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { networkHelp } from './network-names.ts'
import { type PaymentMethod, paymentMethods } from './payment-methods.ts'
import type { BuyOptions } from './run-buy.ts'

const asPaymentMethod = (text: string): PaymentMethod => {
  const paymentMethod = paymentMethods.find((one) => one === text)
  if (paymentMethod === undefined)
    throw usageError(`--scheme: unknown payment method: ${text}`, `One of ${paymentMethods.join(', ')}.`)
  return paymentMethod
}

const asCount = (text: string): number => {
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 1) throw usageError(`--calls: not a number of calls: ${text}`)
  return count
}

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
    .argument('<url>', 'URL to buy; quote it, because the shell interprets & and ?')
    .option('-X, --method <method>', 'HTTP method (GET, or POST with --data)')
    .option('-d, --data <text>', 'request body: the text itself, @file, or @- for standard input')
    .option('-H, --header <line>', 'request header such as "Accept: text/csv"; may be repeated', collect, [])
    .option('--network <name>', `where to pay: ${networkHelp}`)
    .option('--scheme <method>', `use only this payment method: ${paymentMethods.join(', ')}`, asPaymentMethod)
    .option('--permit2', 'the wallet has approved Permit2: metered answers are paid by what was used')
    .option('--deposit <usd>', 'maximum deposit into a payment channel at once; required for batch-settlement')
    .option('--calls <n>', 'how many such calls are expected; the advice depends on it', asCount)
    .option('--usdc <address>', 'USDC contract of a chain that is not known here, or of a test chain; needs --network')
    .option('--token <address>', 'pay with this token of 6 decimals instead of USDC; needs --network')
    .option('--token-domain <name:version>', 'EIP-712 domain of --token; without it, paid by Permit2 (--permit2)')
    .option('--demo', 'pay with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that pays')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option('--max-amount <usd>', 'maximum price; required without a terminal, except with --demo')
    .option('--dry-run', 'show the price and sign nothing')
    .option('-y, --yes', 'do not ask for confirmation; needs --max-amount')
    .option('--out <file>', 'write the answer to this file')
    .option('--save <file>', 'write an evidence file for `assay verify`')
    .option('--wait <seconds>', 'maximum time to wait for settlement', '90')
    .option('--allow-unsigned', 'also buy from sellers that do not sign their answers')
    .option(...rawOption)
    .option(...jsonOption)
    .addHelpText('after', examples)
    .action(async (url: string, options: BuyOptions) => {
      // Loaded when needed: help and wrong use answer at once.
      const { runBuy } = await import('./run-buy.ts')
      await runBuy(context, url, options)
    })
}

const examples = `
The key is read from ASSAY_KEY unless --key-file, --key-env or --demo says otherwise.

Examples:
  assay buy "http://127.0.0.1:4020/v1/sandbox/echo?message=hello" --demo
  assay buy "http://127.0.0.1:4020/v1/report/$TOKEN" --demo --save answer.json --out report.json
  assay buy http://127.0.0.1:4020/v1/match -d '{"query":"short squeeze"}' --max-amount 0.01 --demo --json
  assay buy "http://127.0.0.1:4020/v1/sandbox/echo?message=hello" --demo --scheme mpp
  assay buy "http://127.0.0.1:4020/matrix/squeeze/live" --demo --dry-run --calls 500`
