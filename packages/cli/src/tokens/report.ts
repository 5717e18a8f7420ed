import type { BuyOptions } from '../buy/run-buy.ts'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { nodeOption, tokenUrl } from './node-option.ts'

type ReportOptions = BuyOptions & { node: string; format: string; proof?: boolean }

const mediaTypes: Record<string, string> = { json: 'application/json', markdown: 'text/markdown', html: 'text/html' }

export const addReport: AddCommand = (program, context) => {
  program
    .command('report')
    .summary('buy the full report on a B20 token')
    .description(
      'Buys everything about who controls a token: holders with evidence, policies, seize paths, genesis, history.\n' +
        'Nothing is charged for an address that is no B20 token or cannot be read completely. The JSON verifies offline.',
    )
    .argument('<address>', 'the token')
    .option(...nodeOption)
    .option('--format <name>', 'json, markdown or html', 'json')
    .option('--proof', 'with Merkle proofs of the storage behind the verdict')
    .option('--demo', 'pay with the buyer wallet that a demo node on this machine lends')
    .option('--key-file <path>', 'file with the private key of the wallet that pays')
    .option('--key-env <name>', 'environment variable with that key')
    .option('--max-amount <usd>', 'the most it may cost')
    .option('--dry-run', 'show the price and sign nothing')
    .option('-y, --yes', 'do not ask; needs --max-amount')
    .option('--out <file>', 'write the report there')
    .option('--save <file>', 'write evidence of the purchase there')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay report 0xb200… --demo --out report.json && assay verify report.json')
    .action(async (address: string, options: ReportOptions) => {
      const accept = mediaTypes[options.format]
      if (accept === undefined) throw usageError(`--format: one of ${Object.keys(mediaTypes).join(', ')}`)
      const url = tokenUrl(options.node, '/v1/report', address)
      if (options.proof) url.searchParams.set('proof', '1')
      const { runBuy } = await import('../buy/run-buy.ts')
      await runBuy(context, url.href, { ...options, header: [`Accept: ${accept}`] })
    })
}
