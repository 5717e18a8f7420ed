import { payable } from '../buy/payable.ts'
import type { BuyOptions } from '../buy/run-buy.ts'
import type { AddCommand } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { tokenUrl } from './node-option.ts'

type ReportOptions = BuyOptions & { url: string; format: string; proof?: boolean }

const mediaTypes: Record<string, string> = {
  json: 'application/json',
  markdown: 'text/markdown',
  html: 'text/html',
  pdf: 'application/pdf',
}

export const addReport: AddCommand = (program, context) => {
  payable(
    program
      .command('report')
      .summary('Buy the full report on a B20 token')
      .description(
        'Buy everything about who controls a token: holders with evidence, policies, seize paths, genesis, history.\n' +
          'Nothing is charged for an address that is no B20 token or cannot be read completely. The JSON verifies offline.',
      )
      .argument('<address>', 'the token')
      .option('--format <name>', 'json, markdown, html or pdf', 'json')
      .option('--proof', 'include Merkle proofs of the storage behind the verdict')
      .option('--out <file>', 'write the report to this file')
      .option('--save <file>', 'write an evidence file of the purchase'),
  )
    .addHelpText('after', '\nExample:\n  assay report $TOKEN --demo --out report.json && assay verify report.json')
    .action(async (address: string, options: ReportOptions) => {
      const accept = mediaTypes[options.format]
      if (accept === undefined) throw usageError(`--format: one of ${Object.keys(mediaTypes).join(', ')}`)
      const url = tokenUrl(options.url, '/v1/report', address)
      if (options.proof) url.searchParams.set('proof', '1')
      const { runBuy } = await import('../buy/run-buy.ts')
      await runBuy(context, url.href, { ...options, header: [`Accept: ${accept}`] })
    })
}
