import { existsSync } from 'node:fs'
import { type AddCommand, type CommandContext, jsonOption, rawOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'
import { reasonOption } from '../read-option.ts'
import { type Operator, withOperator } from './connect.ts'

/** What a pause may be called; which there are, the shops of the node decide. */
const pauseName = /^[a-z][a-z0-9_]{0,30}$/

export const addPause: AddCommand = (program, context) => {
  program
    .command('pauses')
    .summary('Show what is paused, since when and why')
    .description('Show everything that can be paused, who changed it last and why.')
    .option(...jsonOption)
    .action(({ json }: { json?: boolean }) =>
      withOperator(context.terminal, (operator) => list(context, operator, json)),
    )
  const changed =
    'Takes effect in every process of the node within a second. Each change is kept in the audit log with its reason.'
  program
    .command('pause')
    .summary('Pause a part of the node, such as sales or payouts')
    .description(changed)
    .argument('<name>', 'One that `assay pauses` lists')
    .requiredOption(...reasonOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay pause sales --reason "moving the database"')
    .action((name: string, options: { reason: string; json?: boolean }) =>
      withOperator(context.terminal, (operator) => change(context, operator, name, true, options)),
    )
  addResume(program, context)
}

/** Two things stop and go on: a purchase of a buyer, and a part of a node. */
const addResume: AddCommand = (program, context) => {
  program
    .command('resume')
    .summary('Resume a purchase whose outcome was not known, or what was paused')
    .description(
      'Ask again for the answer of a purchase that a paying command saved: nothing is signed and nothing is paid again.\n' +
        'With the name of a pause and --reason: end it (operator); `assay pauses` lists them.',
    )
    .argument('[what]', 'purchase file (default: the one in this folder), or the name of a pause')
    .option('--reason <text>', 'for the end of a pause: reason, kept in the audit log')
    .option('--out <file>', 'write the answer to this file')
    .option('--save <file>', 'write an evidence file for `assay verify`')
    .option('--wait <seconds>', 'maximum time to wait for settlement', '90')
    .option('--allow-unsigned', 'the seller does not sign its answers')
    .option(...rawOption)
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  assay resume assay-purchase-1a2b3c4d.json\n  assay resume sales --reason "moved"',
    )
    .action(async (what: string | undefined, options: ResumeOptions) => {
      const { reason } = options
      // Only an operator has a reason to give: a buyer's purchase needs no database to ask for the names of pauses.
      const isPause = what !== undefined && pauseName.test(what) && (reason !== undefined || !existsSync(what))
      if (!isPause) return (await import('../buy/resume-buy.ts')).resumeBuy(context, what, options)
      if (reason === undefined)
        throw usageError(
          `there is no purchase file ${what}, and --reason is missing`,
          'To end a pause, give --reason; the audit log keeps it.',
        )
      await withOperator(context.terminal, (operator) => change(context, operator, what, false, { ...options, reason }))
    })
}

type ResumeOptions = {
  reason?: string
  json?: boolean
  raw?: boolean
  out?: string
  save?: string
  wait?: string
  allowUnsigned?: boolean
}

async function list({ terminal }: CommandContext, { node, database }: Operator, json?: boolean): Promise<void> {
  const document = node.describePauses(await node.readPauses(database))
  printResult(terminal, json, { data: document }, () =>
    table(document, [
      { title: 'name', of: (row) => row.name },
      { title: 'state', of: (row) => (row.paused ? 'PAUSED' : 'running') },
      { title: 'a pause stops', of: (row) => row.stops },
      { title: 'changed', of: (row) => `${row.changed_at} by ${row.changed_by}` },
      { title: 'reason', of: (row) => row.reason },
    ]),
  )
}

async function change(
  context: CommandContext,
  operator: Operator,
  name: string,
  paused: boolean,
  options: { reason: string; json?: boolean },
): Promise<void> {
  const { node, database, actor } = operator
  const known = await node.setPause(database, { name, paused, reason: options.reason, by: actor })
  if (!known) {
    const { all } = await node.readPauses(database)
    throw usageError(`"${name}" cannot be paused`, `One of ${[...all.keys()].join(', ')}.`)
  }
  await list(context, operator, options.json)
}
