import { getAddress } from 'viem/utils'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes } from '../exit-codes.ts'
import { explainMissing } from '../load-node.ts'
import { amountText } from '../operator/amount-text.ts'
import type { Operator } from '../operator/connect.ts'
import { ageText, printResult, shortAddress, table } from '../output.ts'

export async function listAll(
  { terminal }: CommandContext,
  { node, database }: Operator,
  options: { state?: string; payee?: string; limit: number; json?: boolean },
): Promise<void> {
  const state = node.payoutStates.find((known) => known === options.state)
  const payouts = await node.listPayouts(database, {
    ...(state === undefined ? {} : { state }),
    ...(options.payee === undefined ? {} : { payee: options.payee.toLowerCase() as `0x${string}` }),
    limit: options.limit,
  })
  const unfunded = await node.unfundedPayouts(database)
  const nowMs = node.systemClock.nowMs()
  const document = payouts.map((payout) => ({
    id: payout.id,
    state: payout.state,
    purpose: payout.purpose,
    subject: payout.subject,
    network: payout.network,
    payee: getAddress(payout.payee),
    amount_micro: payout.amountMicro,
    transaction: payout.transaction,
    reason: payout.reason,
    created_at: payout.createdAt.toISOString(),
  }))
  const result = {
    data: document,
    unfunded: unfunded.map(({ network, payouts: count, micro }) => ({ network, payouts: count, due_micro: micro })),
  }
  printResult(terminal, options.json, result, () =>
    payouts.length === 0
      ? 'no payouts'
      : [
          table(payouts, [
            { title: 'payout', of: (row) => row.id },
            { title: 'state', of: (row) => row.state },
            { title: 'age', of: (row) => ageText(nowMs - row.createdAt.getTime()), right: true },
            { title: 'amount', of: (row) => amountText(row.amountMicro, 'usdc'), right: true },
            { title: 'for', of: (row) => row.purpose },
            { title: 'payee', of: (row) => shortAddress(getAddress(row.payee)) },
            { title: 'network', of: (row) => row.network },
            { title: 'transaction', of: (row) => row.transaction ?? '' },
            { title: 'reason', of: (row) => row.reason ?? '' },
          ]),
          ...unfunded.map(unfundedLine),
        ].join('\n'),
  )
}

const unfundedLine = ({ network, payouts, micro }: { network: string; payouts: number; micro: bigint }): string =>
  `${payouts} queued payouts on ${network} need ${amountText(micro, 'usdc')} that CUSTODY does not hold: send USDC from PAY_TO to CUSTODY`

export async function approve(
  { terminal }: CommandContext,
  { node, database, actor }: Operator,
  id: string,
  json?: boolean,
): Promise<void> {
  const outcome = await node.approvePayout(database, id, actor)
  if (outcome === 'not_found')
    throw new CliError(exitCodes.failed, 'not_found', `there is no payout ${id}`, {
      hint: '`assay payouts list` shows the ids.',
    })
  if (outcome === 'nothing_to_approve')
    throw new CliError(exitCodes.refused, 'nothing_to_approve', `${id} neither waits for approval nor is parked`)
  printResult(terminal, json, { approved: id }, () => `${id} goes on; a running node sends it`)
}

export async function pause(
  { terminal }: CommandContext,
  { node, database, actor }: Operator,
  on: boolean,
  options: { reason: string; json?: boolean },
): Promise<void> {
  await node.setPause(database, { name: 'payouts', paused: on, reason: options.reason, by: actor })
  printResult(terminal, options.json, { payouts: on ? 'paused' : 'running' }, () =>
    on ? 'payouts are paused' : 'payouts go on',
  )
}

export async function acceptLoss(
  { terminal }: CommandContext,
  { node, database, actor }: Operator,
  network: string,
  options: { reason: string; json?: boolean },
): Promise<void> {
  const outcome = await node.acceptLoss(database, network, actor, options.reason)
  if (outcome.status === 'not_stopped')
    throw new CliError(exitCodes.refused, 'not_stopped', `no money is missing at the custody wallet of ${network}`)
  const { lossMicro } = outcome
  printResult(
    terminal,
    options.json,
    { network, loss_micro: lossMicro },
    () => `${amountText(lossMicro, 'usdc')} posted as lost; payouts on ${network} go on`,
  )
}

export async function listSubscribers(
  { terminal }: CommandContext,
  { node, database }: Operator,
  options: { all?: boolean; limit: number; json?: boolean },
): Promise<void> {
  const now = new Date(node.systemClock.nowMs())
  const { listSubscriptions } = await import('@assay/node/shops/subscriptions').catch(explainMissing)
  const found = await listSubscriptions(database, {
    ...(options.all ? {} : { activeAt: now }),
    limit: options.limit,
  })
  const rows = found.map((row) => ({ ...row, wallet: getAddress(row.wallet) }))
  printResult(terminal, options.json, { data: rows }, () =>
    rows.length === 0
      ? 'no subscriptions'
      : table(rows, [
          { title: 'wallet', of: (row) => row.wallet },
          { title: 'tier', of: (row) => row.tier },
          { title: 'from', of: (row) => row.from_at.toISOString() },
          { title: 'until', of: (row) => row.until_at.toISOString() },
          { title: 'given back', of: (row) => ageText(Number(row.extended_ms)), right: true },
          { title: 'periods', of: (row) => String(row.purchases), right: true },
          { title: 'token', of: (row) => (row.has_token ? 'yes' : 'revoked') },
        ]),
  )
}
