import { writeFile } from 'node:fs/promises'
import { parseUsd } from '@assay/sdk'
import { getAddress } from 'viem/utils'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { amountText } from '../operator/amount-text.ts'
import type { Operator } from '../operator/connect.ts'
import { ageText, printResult, shortAddress, table } from '../output.ts'

export type DecideOptions = { refund?: string; reject?: boolean; reason: string; json?: boolean }

export async function listDisputes(
  { terminal }: CommandContext,
  { node, database }: Operator,
  options: { state: string; limit: number; json?: boolean },
): Promise<void> {
  const state = node.disputeStatesOfPayments.find((known) => known === options.state)
  const rows = await node.listPaymentDisputes(database, { state: state ?? 'open', limit: options.limit })
  const nowMs = node.systemClock.nowMs()
  printResult(terminal, options.json, { data: rows.map(documentOf) }, () =>
    rows.length === 0
      ? 'no disputes'
      : table(rows, [
          { title: 'dispute', of: (row) => row.id },
          { title: 'payment', of: (row) => row.paymentId },
          { title: 'payer', of: (row) => shortAddress(getAddress(row.payer)) },
          { title: 'age', of: (row) => ageText(nowMs - row.openedAt.getTime()), right: true },
          { title: 'evidence', of: (row) => (row.evidenceBytes > 0 ? `${row.evidenceBytes} bytes` : ''), right: true },
          { title: 'text', of: (row) => row.text.replaceAll(/\s+/g, ' ').slice(0, 60) },
        ]),
  )
}

type Dispute = Awaited<ReturnType<Operator['node']['listPaymentDisputes']>>[number]

const documentOf = (dispute: Dispute) => ({
  id: dispute.id,
  payment_id: dispute.paymentId,
  payer: getAddress(dispute.payer),
  text: dispute.text,
  evidence_type: dispute.evidenceType,
  evidence_bytes: dispute.evidenceBytes,
  state: dispute.state,
  opened_at: dispute.openedAt,
  refund_micro: dispute.refundMicro,
  decision: dispute.decision,
  decided_by: dispute.decidedBy,
  decided_at: dispute.decidedAt,
})

export async function showDispute(
  { terminal }: CommandContext,
  { node, database }: Operator,
  id: string,
  options: { save?: string; json?: boolean },
): Promise<void> {
  const found = await find({ node, database }, id)
  const payment = await node.readPaymentStatus(database, found.paymentId)
  const evidence = await node.readDisputeEvidence(database, found.id)
  if (options.save !== undefined) {
    if (!evidence) throw new CliError(exitCodes.failed, 'no_evidence', 'the payer sent no file')
    await writeFile(options.save, evidence, { mode: 0o600, flag: 'wx' })
  }
  printResult(terminal, options.json, { ...documentOf(found), payment }, () =>
    [
      `${found.id} about ${found.paymentId}, ${found.state}`,
      `paid ${amountText(BigInt(payment?.amount_micro ?? 0), 'usdc')} on ${payment?.network} by ${getAddress(found.payer)}`,
      `evidence: ${evidence ? `${evidence.length} bytes of ${found.evidenceType}` : 'none'}`,
      ...(found.decision === null ? [] : [`decided by ${found.decidedBy}: ${found.decision}`]),
      '',
      found.text,
    ].join('\n'),
  )
}

async function find({ node, database }: Pick<Operator, 'node' | 'database'>, id: string) {
  const found = await node.findPaymentDispute(database, id)
  if (!found)
    throw new CliError(exitCodes.failed, 'not_found', `there is no dispute ${id}`, {
      hint: '`assay disputes list` shows them; those about sources are in `assay source disputes list`.',
    })
  return found
}

const whyTexts: Record<string, string> = {
  decided_before: 'it was decided before',
  not_paid: 'nothing was paid with it, or it is not served',
  more_than_paid: 'that is more than was paid',
  refunded_before: 'the payment was refunded before; a payment is refunded once',
}

export async function decide(
  { terminal }: CommandContext,
  { node, database, actor }: Operator,
  id: string,
  options: DecideOptions,
): Promise<void> {
  if (options.reason.trim() === '' || options.reason.length > 1_000) throw usageError('--reason: 1 to 1000 characters')
  const found = await find({ node, database }, id)
  const outcome = await node.decidePaymentDispute(
    { database, clock: node.systemClock },
    { id: found.id, refund: refundOf(options), reason: options.reason.trim(), by: actor },
  )
  if (outcome.status === 'refused')
    throw new CliError(exitCodes.refused, outcome.why, whyTexts[outcome.why] ?? outcome.why)
  const { state, refundMicro } = outcome
  printResult(terminal, options.json, { id: found.id, state, refund_micro: refundMicro }, () =>
    refundMicro === null
      ? `${found.id} is rejected`
      : `${found.id} is accepted; a running node refunds ${amountText(refundMicro, 'usdc')} once the payment is final`,
  )
}

function refundOf({ refund }: DecideOptions): 'none' | 'all' | bigint {
  if (refund === undefined) return 'none'
  if (refund === 'all') return 'all'
  const micro = parseUsd(refund)
  if (micro === undefined || micro === 0n) throw usageError(`--refund: not decimal USD or all: ${refund}`)
  return micro
}
