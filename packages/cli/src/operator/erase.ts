import { parseAddress } from '@assay/protocol/address'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'
import { type Operator, withOperator } from './connect.ts'

type Options = { dryRun?: boolean; json?: boolean }

export const addErase: AddCommand = (program, { terminal }) => {
  program
    .command('erase')
    .summary('Erase what is known of a wallet and need not be kept')
    .description(
      'Deletes mail addresses and webhooks, saved screens, searches, stored answers, texts of decided disputes and what the wallet says of ' +
        'itself, and cuts the queries off the addresses it asked for. Payments, postings, claims and invoices stay: it names what is ' +
        'kept and why. All of it or nothing, and nothing while something of the wallet is under way.',
    )
    .argument('<wallet>', 'address of the wallet')
    .option('--dry-run', 'count what would be erased, and change nothing')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay erase 0x1111111111111111111111111111111111111111 --dry-run')
    .action((wallet: string, { dryRun = false, json }: Options) =>
      withOperator(terminal, async (operator) => {
        const found = await erase(operator, wallet, dryRun)
        printResult(terminal, json, { ...found, dry_run: dryRun }, () =>
          [
            table(found.erased, [
              { title: dryRun ? 'would be erased' : 'erased', of: ({ place }) => place },
              { title: 'rows', of: ({ rows }) => String(rows), right: true },
              { title: 'what', of: ({ what }) => what },
            ]),
            table(found.kept, [
              { title: 'kept', of: ({ place }) => place },
              { title: 'because', of: ({ because }) => because },
            ]),
          ].join('\n\n'),
        )
      }),
    )
}

async function erase({ node, database, actor }: Operator, text: string, dryRun: boolean) {
  const wallet = parseAddress(text)
  if (!wallet) throw usageError(`not the address of a wallet: ${text}`)
  return await node.erasePersonalData(database, { wallet, actor, dryRun }).catch((cause: unknown) => {
    if (!(cause instanceof node.NotErasable)) throw cause
    throw new CliError(exitCodes.failed, 'not_erasable', cause.message, {
      hint: 'Nothing was erased: run it again when that is over.',
      cause,
    })
  })
}
