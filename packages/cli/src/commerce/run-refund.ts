import { parseUsd } from '@assay/sdk'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes } from '../exit-codes.ts'
import { amountText } from '../operator/amount-text.ts'
import type { Operator } from '../operator/connect.ts'
import { printResult } from '../output.ts'

export type RefundOptions = { reason: string; amount?: string; wait: number; yes?: boolean; json?: boolean }

const whyTexts = {
  not_paid: 'nothing was paid with it, or it is not served yet',
  more_than_paid: 'that is more than was paid',
  refunded_before: 'it was refunded before; a payment is refunded once',
} as const

export async function runRefund(
  { terminal }: CommandContext,
  operator: Operator,
  paymentId: string,
  options: RefundOptions,
): Promise<void> {
  const { node, database, actor } = operator
  const amountMicro = options.amount === undefined ? undefined : parseUsd(options.amount)
  if (!options.yes && terminal.interactive && !(await terminal.confirm(`Refund ${paymentId}?`)))
    throw new CliError(exitCodes.refused, 'not_confirmed', 'not confirmed; nothing was changed')
  const asked = await node.requestRefund(database, {
    paymentId,
    reason: options.reason,
    by: actor,
    ...(amountMicro === undefined ? {} : { amountMicro }),
  })
  if (asked.status === 'refused')
    throw asked.why === 'no_such_payment'
      ? new CliError(exitCodes.failed, asked.why, `there is no payment ${paymentId}`, {
          hint: '`assay ledger payments` shows the ids.',
        })
      : new CliError(exitCodes.refused, asked.why, whyTexts[asked.why])
  // Where no node runs nobody carries it out now.
  const status = await waitFor(operator, paymentId, operator.stopped ? 0 : options.wait)
  if (status?.state === 'refused')
    throw new CliError(exitCodes.refused, 'refused', status.outcome ?? 'the refund was refused')
  const document = {
    payment: paymentId,
    amount_micro: asked.amountMicro,
    payout: status?.payout ?? null,
  }
  printResult(terminal, options.json, document, () =>
    status?.state === 'credited'
      ? `${amountText(asked.amountMicro, 'usdc')} was returned to the credit balance it was paid from`
      : status?.payout?.state === 'paid'
        ? `refunded ${amountText(asked.amountMicro, 'usdc')} with ${status.payout.transaction}`
        : `the refund of ${amountText(asked.amountMicro, 'usdc')} is queued; a running node sends it once the payment is final`,
  )
}

async function waitFor({ node, database }: Operator, paymentId: string, seconds: number) {
  const deadlineMs = node.systemClock.monotonicMs() + seconds * 1000
  for (;;) {
    const status = await node.readRefund(database, paymentId)
    const ended = ['refused', 'credited'].includes(status?.state ?? '') || status?.payout?.state === 'paid'
    if (ended || node.systemClock.monotonicMs() >= deadlineMs) return status
    await node.systemClock.sleep(250)
  }
}
