import { getAddress } from 'viem/utils'
import type { CommandContext } from '../command-context.ts'
import { ageText, printResult, shortAddress, table } from '../output.ts'
import { amountText } from './amount-text.ts'
import type { Operator } from './connect.ts'

type Count = { state: string; asset: string; payments: bigint; amount_micro: string; oldest: Date }
type Row = {
  id: string
  state: string
  network: string
  payer: string
  amount_micro: bigint
  route_id: string
  transaction: string | null
  reason: string | null
  final: boolean
  claimed_at: Date
}

export async function listPayments(
  { terminal }: CommandContext,
  { node, database }: Operator,
  options: { state?: string; payer?: string; limit: number; json?: boolean },
): Promise<void> {
  const { state, payer } = options
  const counts = await database.query<Count>(
    `select state, case when network like '%/%' then network else 'usdc' end as asset, count(*) as payments,
       sum(amount_micro)::text as amount_micro, min(claimed_at) as oldest
     from payment group by 1, 2 order by 1, 2 desc`,
  )
  const found = await database.query<Row>(
    `select id, state, network, payer, amount_micro, route_id, '0x' || encode(transaction, 'hex') as transaction, reason, final, claimed_at from payment
     where ($1::text is null or state = $1) and ($2::text is null or payer = $2)
     order by claimed_at desc, id desc limit $3`,
    [state ?? null, payer?.toLowerCase() ?? null, options.limit],
  )
  const rows = found.rows.map((row) => ({ ...row, payer: getAddress(row.payer) }))
  const nowMs = node.systemClock.nowMs()
  printResult(terminal, options.json, { states: counts.rows, data: rows }, () =>
    rows.length === 0 && counts.rows.length === 0
      ? 'no payments yet'
      : [countsText(counts.rows, nowMs), '', rowsText(rows, nowMs)].join('\n'),
  )
}

function countsText(counts: readonly Count[], nowMs: number): string {
  return table(counts, [
    { title: 'state', of: (row) => row.state },
    { title: 'payments', of: (row) => String(row.payments), right: true },
    { title: 'amount', of: (row) => amountText(BigInt(row.amount_micro), row.asset), right: true },
    { title: 'oldest', of: (row) => ageText(nowMs - row.oldest.getTime()), right: true },
  ])
}

function rowsText(rows: readonly Row[], nowMs: number): string {
  return table(rows, [
    { title: 'payment', of: (row) => row.id },
    { title: 'state', of: (row) => (row.final ? `${row.state}, final` : row.state) },
    { title: 'age', of: (row) => ageText(nowMs - row.claimed_at.getTime()), right: true },
    { title: 'amount', of: (row) => amountText(row.amount_micro, row.network), right: true },
    { title: 'network', of: (row) => row.network },
    { title: 'payer', of: (row) => shortAddress(row.payer) },
    { title: 'route', of: (row) => row.route_id },
    { title: 'reason', of: (row) => row.reason ?? '' },
  ])
}
