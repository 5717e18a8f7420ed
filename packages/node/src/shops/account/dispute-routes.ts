import { checksumAddress } from '@assay/protocol/address'
import {
  disputeLimits,
  type Evidence,
  findPaymentDispute,
  type OpenDisputeOutcome,
  openDispute,
  type PaymentDispute,
} from '@assay/till/internal'
import { fieldProblem, Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import type { ShopContext } from '../shop.ts'
import { accountProblems } from './problems.ts'
import { type PayerDeps, provenPayer } from './proven-payer.ts'

const { textMax, evidenceBytesMax, days } = disputeLimits
const params = z.strictObject({ id: z.string().max(64) })
const base64 = /^[A-Za-z0-9+/]*={0,2}$/
const asked = z.strictObject({
  text: z.string().trim().min(10).max(textMax).describe('What is wrong with the answer.'),
  evidence: z
    .strictObject({
      media_type: z.string().regex(/^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,60}$/),
      base64: z
        .string()
        .max(Math.ceil(evidenceBytesMax / 3) * 4)
        .regex(base64),
    })
    .optional()
    .describe(`A file of at most ${evidenceBytesMax} bytes, such as an evidence file of this purchase.`),
})

const dispute = z.strictObject({
  id: z.string(),
  payment_id: z.string(),
  payer: z.string(),
  state: z.enum(['open', 'accepted', 'rejected']),
  text: z.string(),
  evidence_bytes: z.int(),
  opened_at: z.string(),
  refund_micro: z.string().nullable(),
  decision: z.string().nullable(),
  decided_at: z.string().nullable(),
})

const example: z.infer<typeof dispute> = {
  id: 'dsp_06d1z8k4q2v7e9m3x5c0w8r2t4',
  payment_id: 'pay_06d1z8k4q2v7e9m3x5c0w8r2t4',
  payer: '0x1111111111111111111111111111111111111111',
  state: 'open',
  text: 'The report says that supply is capped; block 12 shows it is not.',
  evidence_bytes: 0,
  opened_at: '2026-01-01T00:00:00.000Z',
  refund_micro: null,
  decision: null,
  decided_at: null,
}

type DisputeDeps = PayerDeps & Pick<ShopContext, 'database' | 'clock' | 'ids'>

/** "This answer is wrong": said by the payer, decided by the operator. */
export function disputeRoutes(deps: DisputeDeps): RouteDeclaration[] {
  return [openRoute(deps), showRoute(deps)]
}

function openRoute(deps: DisputeDeps): RouteDeclaration {
  return defineRoute({
    id: 'payments.dispute',
    area: 'core',
    method: 'POST',
    path: '/v1/payments/:id/dispute',
    summary: 'Say that a paid answer is wrong, and ask for the money back',
    description: `Signed (ERC-8128) by the wallet that paid, within ${days} days, once per payment. The operator decides; the status of the payment shows the decision, and a refund goes to the payer.`,
    params,
    body: asked,
    bodyBytesMax: 65_536,
    output: dispute,
    example: { params: { id: example.payment_id }, body: { text: example.text }, output: example },
    next: '/v1/payments/:id',
    cost: 20,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => {
        const payer = await provenPayer(deps, call)
        const { id: paymentId } = input.params as z.infer<typeof params>
        const { text, evidence } = input.body as z.infer<typeof asked>
        const outcome = await openDispute(deps, payer, {
          paymentId,
          text,
          ...(evidence === undefined ? {} : { evidence: evidenceOf(evidence) }),
        })
        if (outcome.status === 'refused') throw refusal(outcome.why)
        const opened = await findPaymentDispute(deps.database, outcome.id)
        return jsonAnswer(describe(opened as PaymentDispute))
      },
    },
  })
}

function evidenceOf(given: { media_type: string; base64: string }): Evidence {
  const bytes = Buffer.from(given.base64, 'base64')
  if (bytes.length === 0 || bytes.length > evidenceBytesMax || bytes.toString('base64') !== given.base64)
    throw fieldProblem('body.evidence.base64', 'must be canonical base64 of the file')
  return { mediaType: given.media_type, bytes }
}

function refusal(why: Extract<OpenDisputeOutcome, { status: 'refused' }>['why']): Problem {
  if (why === 'no_such_payment') return new Problem('not_found', { detail: 'This wallet made no such payment.' })
  if (why === 'too_many') return new Problem('rate_limited', { retryAfterSeconds: 86_400 })
  const details = {
    not_disputable: 'Nothing was served or charged for this payment, or it was refunded.',
    too_late: `A payment can be disputed for ${days} days.`,
    disputed_before: 'This payment was disputed before.',
  }
  return new Problem(accountProblems.dispute_refused, { detail: details[why] })
}

function showRoute(deps: DisputeDeps): RouteDeclaration {
  return defineRoute({
    id: 'payments.dispute.show',
    area: 'core',
    method: 'GET',
    path: '/v1/payments/:id/dispute',
    summary: 'The dispute about a payment, for its payer',
    description: 'Signed (ERC-8128) by the wallet that paid.',
    params,
    output: dispute,
    example: { params: { id: example.payment_id }, output: example },
    next: '/v1/payments/:id',
    cost: 5,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => {
        const payer = await provenPayer(deps, call)
        const found = await findPaymentDispute(deps.database, (input.params as z.infer<typeof params>).id)
        if (!found || found.payer !== payer.address)
          throw new Problem('not_found', { detail: 'This wallet opened no dispute about it.' })
        return jsonAnswer(describe(found))
      },
    },
  })
}

const describe = (row: PaymentDispute): z.infer<typeof dispute> => ({
  id: row.id,
  payment_id: row.paymentId,
  payer: checksumAddress(row.payer),
  state: row.state,
  text: row.text,
  evidence_bytes: row.evidenceBytes,
  opened_at: row.openedAt.toISOString(),
  refund_micro: row.refundMicro?.toString() ?? null,
  decision: row.decision,
  decided_at: row.decidedAt?.toISOString() ?? null,
})
