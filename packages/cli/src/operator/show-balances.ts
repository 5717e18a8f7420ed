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
  printResult(terminal, options.json, { data: shown.map(toDocument), next_cursor: null }, () =>
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
    return [rows.length === 0 ? 'no entries yet' : rowsText(rows), '', ...sums].join('\n').trimEnd()
  })
  if (!balanced) endWith(exitCodes.notVerified)
}

const toDocument = ({ name, kind, unit, balanceMicro }: Row) => ({ account: name, kind, unit, balance: balanceMicro })

function rowsText(rows: readonly Row[]): string {
  return table(rows, [
    { title: 'account', of: (row) => row.name },
    { title: 'kind', of: (row) => row.kind },
    { title: 'balance', of: (row) => amountText(row.balanceMicro, row.unit), right: true },
  ])
}
