import { getAddress } from 'viem'
import type { CommandContext } from '../command-context.ts'
import { printResult, table } from '../output.ts'
import { amountText } from './amount-text.ts'
import type { Operator } from './connect.ts'

type Row = {
  network: string
  transaction: string
  log_index: number
  sender: string
  recipient: string
  amount_micro: bigint
  seen_at: Date
}

/** Money that came without an authorization: nobody can tell what it was for, so a person has to. */
export async function listReview(
  { terminal }: CommandContext,
  { database }: Operator,
  options: { limit: number; json?: boolean },
): Promise<void> {
  const found = await database.query<Row>(
    `select network, transaction, log_index, sender, recipient, amount_micro, seen_at from inbound_review
     where state = 'open' order by seen_at limit $1`,
    [options.limit],
  )
  const rows = found.rows.map((row) => ({
    ...row,
    sender: getAddress(row.sender),
    recipient: getAddress(row.recipient),
  }))
  printResult(terminal, options.json, { data: rows }, () =>
    rows.length === 0
      ? 'nothing waits'
      : table(rows, [
          { title: 'seen', of: (row) => row.seen_at.toISOString() },
          { title: 'network', of: (row) => row.network },
          { title: 'amount', of: (row) => amountText(row.amount_micro, row.network), right: true },
          { title: 'from', of: (row) => row.sender },
          { title: 'transaction', of: (row) => row.transaction },
        ]),
  )
}
