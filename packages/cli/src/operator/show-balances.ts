import type { TrialBalance } from '@assay/node'
import type { CommandContext } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'
import { amountText } from './amount-text.ts'
import type { Operator } from './connect.ts'

type Row = TrialBalance['rows'][number]

export async function showBalances(
  { terminal }: CommandContext,
  { node, database }: Operator,
  options: { prefix: string; json?: boolean },
): Promise<void> {
  const { rows } = await node.trialBalance(database)
  const shown = rows.filter((row) => row.name.startsWith(options.prefix))
  printResult(terminal, options.json, { data: shown.map(toDocument) }, () =>
    shown.length === 0 ? 'no entries yet' : rowsText(shown),
  )
}

/** Every transaction sums to zero per unit, so the whole does; anything else means broken books. */
export async function showTrial(
  { terminal, endWith }: CommandContext,
  { node, database }: Operator,
  options: { at?: Date | undefined; json?: boolean },
): Promise<void> {
  const { rows, sumByUnit } = await node.trialBalance(database, options.at)
  const balanced = Object.values(sumByUnit).every((sum) => sum === 0n)
  const document = {
    at: (options.at ?? new Date(node.systemClock.nowMs())).toISOString(),
    balanced,
    sums: sumByUnit,
    data: rows.map(toDocument),
  }
  printResult(terminal, options.json, document, () => {
    const sums = Object.entries(sumByUnit).map(([unit, sum]) => `${unit} sums to ${amountText(sum, unit)}`)
    return [rows.length === 0 ? 'no entries yet' : trialText(rows), '', ...sums].join('\n').trimEnd()
  })
  if (!balanced) endWith(exitCodes.notVerified)
}

/** What is owed and what was earned is on the credit side: there a credit balance is positive. */
const creditKinds: ReadonlySet<string> = new Set(['liability', 'income'])

export const normalSide = (kind: string): 'debit' | 'credit' => (creditKinds.has(kind) ? 'credit' : 'debit')

/** Stored as debit less credit; shown positive on the side where accounts of this kind have their balance. */
export const normalBalance = (kind: string, stored: bigint): bigint =>
  normalSide(kind) === 'credit' ? -stored : stored

const toDocument = ({ name, kind, unit, balanceMicro }: Row) => ({
  account: name,
  kind,
  unit,
  normal_side: normalSide(kind),
  balance: normalBalance(kind, balanceMicro),
})

function rowsText(rows: readonly Row[]): string {
  return table(rows, [
    { title: 'account', of: (row) => row.name },
    { title: 'kind', of: (row) => row.kind },
    { title: 'balance', of: (row) => amountText(normalBalance(row.kind, row.balanceMicro), row.unit), right: true },
  ])
}

/** Two columns, as trial balances have: they add up to the same. */
function trialText(rows: readonly Row[]): string {
  const on = (side: bigint, unit: string) => (side > 0n ? amountText(side, unit) : '')
  return table(rows, [
    { title: 'account', of: (row) => row.name },
    { title: 'kind', of: (row) => row.kind },
    { title: 'debit', of: (row) => on(row.balanceMicro, row.unit), right: true },
    { title: 'credit', of: (row) => on(-row.balanceMicro, row.unit), right: true },
  ])
}
