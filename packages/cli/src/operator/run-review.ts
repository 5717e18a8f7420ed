import { getAddress } from 'viem/utils'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'
import { amountText } from './amount-text.ts'
import type { Operator } from './connect.ts'

export type DecideOptions = { credit?: boolean; revenue?: boolean; note?: string; json?: boolean }

export async function listAll(
  { terminal }: CommandContext,
  { node, database }: Operator,
  options: { limit: number; json?: boolean },
): Promise<void> {
  const rows = (await node.listReview(database, options.limit)).map((row) => ({
    id: row.id.toString(),
    network: row.network,
    transaction: row.transaction,
    position: row.position,
    sender: getAddress(row.sender),
    recipient: getAddress(row.recipient),
    amount_micro: row.amountMicro,
    in_restore_gap: row.inGap,
    seen_at: row.seenAt,
  }))
  printResult(terminal, options.json, { data: rows }, () =>
    rows.length === 0
      ? 'nothing waits'
      : table(rows, [
          { title: 'transfer', of: (row) => row.id, right: true },
          { title: 'seen', of: (row) => row.seen_at.toISOString() },
          { title: 'network', of: (row) => row.network },
          { title: 'amount', of: (row) => amountText(row.amount_micro, row.network), right: true },
          { title: 'from', of: (row) => row.sender },
          { title: 'transaction', of: (row) => row.transaction },
          { title: '', of: (row) => (row.in_restore_gap ? 'in the gap of a restore' : '') },
        ]),
  )
}

const whyTexts = {
  no_such_transfer: 'there is no such transfer',
  not_in_review: 'it was decided before, or a payment explains it',
  not_final: 'its block is not final yet',
  restoring: 'the database was restored, and the chain may still show what was lost',
} as const

export async function decide(
  { terminal }: CommandContext,
  { node, database, actor }: Operator,
  transfer: bigint,
  { revenue, note, json }: DecideOptions,
): Promise<void> {
  const decision = revenue === true ? 'revenue' : 'credit'
  const outcome = await node.decideReview(
    { database, clock: node.systemClock },
    { transfer, decision, by: actor, note },
  )
  if (outcome.status === 'refused') throw new CliError(exitCodes.refused, outcome.why, whyTexts[outcome.why])
  const { network, sender, amountMicro } = outcome
  const amount = amountText(amountMicro, network)
  printResult(
    terminal,
    json,
    { transfer: transfer.toString(), decision, amount_micro: amountMicro, sender: getAddress(sender) },
    () => (decision === 'revenue' ? `${amount} is revenue` : `${amount} is credit of ${getAddress(sender)}`),
  )
}
