import { readEarnings } from '@assay/sdk'
import { cell } from '../books/csv.ts'
import type { CommandContext } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { freeClient } from '../free-client.ts'
import { printResult, table } from '../output.ts'

export type EarningsOptions = { by?: string; from?: string; until?: string; csv?: boolean }

const keys = ['page', 'payer', 'day'] as const

export async function showEarnings(
  { terminal }: CommandContext,
  node: string,
  wallet: string,
  { by = 'day', from, until, csv, json }: EarningsOptions & { json?: boolean },
): Promise<void> {
  const key = keys.find((known) => known === by)
  if (!key) throw usageError('--by must be page, payer or day')
  for (const date of [from, until])
    if (date !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(date)) throw usageError('dates are written as 2026-01-31')
  const rows = await readEarnings(freeClient(), node, wallet, {
    by: key,
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
  })
  if (csv) {
    terminal.out(
      [
        `${key},domain,citations,earned_usd`,
        ...rows.map((row) => [cell(row.key), row.domain ?? '', row.citations, row.earned_usd].join(',')),
      ].join('\n'),
    )
    return
  }
  printResult(terminal, json, { data: rows }, () =>
    rows.length === 0
      ? 'nothing was earned in these days'
      : table(rows, [
          { title: key, of: (row) => row.key },
          { title: 'citations', of: (row) => String(row.citations), right: true },
          { title: 'USD', of: (row) => row.earned_usd, right: true },
        ]),
  )
}
