import type { LedgerEntryView } from '@assay/node'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'
import { amountText } from './amount-text.ts'
import type { Operator } from './connect.ts'

export async function showEntries(
  { terminal }: CommandContext,
  { node, database }: Operator,
  options: { account: string; limit: number; before?: string; json?: boolean },
): Promise<void> {
  const { account, limit } = options
  const { rows: found } = await database.query<{ unit: string }>('select unit from ledger_account where name = $1', [
    account,
  ])
  const unit = found[0]?.unit
  if (unit === undefined)
    throw new CliError(exitCodes.failed, 'no_such_account', `there is no account ${account}`, {
      hint: '`assay ledger balances` shows the names.',
    })
  const before = parseCursor(options.before)
  const entries = await node.entriesOf(database, { name: account }, { limit, ...(before ? { before } : {}) })
  const last = entries.length === limit ? entries.at(-1) : undefined
  const cursor = last === undefined ? null : `${last.transactionId}.${last.line}`
  printResult(terminal, options.json, { data: entries.map(toDocument), next_cursor: cursor }, () =>
    entries.length === 0 ? 'no entries' : entriesText(entries, unit),
  )
  if (cursor !== null && !options.json) terminal.say(`more: --before ${cursor}`)
}

function parseCursor(text: string | undefined): { transactionId: bigint; line: number } | undefined {
  if (text === undefined) return undefined
  const [, id, line] = /^([0-9]{1,19})\.([0-9]{1,4})$/.exec(text) ?? []
  if (id === undefined || line === undefined) throw usageError(`--before: not a cursor: ${text}`)
  return { transactionId: BigInt(id), line: Number(line) }
}

const toDocument = (entry: LedgerEntryView) => ({
  transaction_id: entry.transactionId,
  line: entry.line,
  kind: entry.kind,
  reference: entry.reference,
  payment_id: entry.paymentId,
  amount: entry.amountMicro,
  memo: entry.memo,
  created_at: entry.createdAt.toISOString(),
})

function entriesText(entries: readonly LedgerEntryView[], unit: string): string {
  return table(entries, [
    { title: 'time', of: (entry) => entry.createdAt.toISOString() },
    { title: 'kind', of: (entry) => entry.kind },
    { title: 'amount', of: (entry) => amountText(entry.amountMicro, unit), right: true },
    { title: 'reference', of: (entry) => entry.reference },
  ])
}
