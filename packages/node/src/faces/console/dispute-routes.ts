import { checksumAddress } from '@assay/protocol/address'
import { parseUsd } from '@assay/protocol/money'
import { decideDispute, listPaymentDisputes, type PaymentDispute } from '@assay/till/internal'
import { fieldProblem } from '@assay/till/kernel/problem'
import type { Sql } from '@assay/till/store/database'
import { z } from 'zod'
import { jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import type { ShopContext } from '../../shops/shop.ts'
import type { CallerDeps } from './caller.ts'
import { operatorRoute } from './operator-route.ts'

/** What payers say is wrong, and nobody has decided. */
export const openDisputesShape = z.array(
  z.strictObject({
    id: z.string(),
    payment_id: z.string(),
    payer: z.string(),
    text: z.string(),
    evidence_bytes: z.int(),
    opened_at: z.string(),
  }),
)

export async function readOpenDisputes(sql: Sql): Promise<z.infer<typeof openDisputesShape>> {
  return (await listPaymentDisputes(sql, { state: 'open', limit: 20 })).map((row: PaymentDispute) => ({
    id: row.id,
    payment_id: row.paymentId,
    payer: checksumAddress(row.payer),
    text: row.text,
    evidence_bytes: row.evidenceBytes,
    opened_at: row.openedAt.toISOString(),
  }))
}

const decision = z.strictObject({
  id: z.string().max(64),
  refund_usd: z.string().max(20).describe('`all`, `none`, or an amount up to what was paid.'),
  reason: z.string().trim().min(3).max(1_000).describe('Shown to the payer.'),
})

export function decideDisputeRoute(deps: CallerDeps & Pick<ShopContext, 'database' | 'clock'>): RouteDeclaration {
  return operatorRoute(deps, {
    operator: 'operate',
    roleFor: ({ body }) =>
      (body as z.infer<typeof decision> | undefined)?.refund_usd === 'none' ? 'operate' : 'withdraw',
    id: 'operator.dispute',
    method: 'POST',
    path: '/v1/operator/disputes',
    summary: 'Decide a dispute about a payment, for the operator',
    description:
      'Decided once; a refund needs the role withdraw and is sent by a running node once the payment is final.',
    body: decision,
    output: z.strictObject({ id: z.string(), state: z.string(), refund_micro: z.string().nullable() }),
    example: {
      body: { id: 'dsp_06d1z8k4q2v7e9m3x5c0w8r2t4', refund_usd: 'none', reason: 'The cap is as the chain says.' },
      output: { id: 'dsp_06d1z8k4q2v7e9m3x5c0w8r2t4', state: 'rejected', refund_micro: null },
    },
    next: '/v1/operator/overview',
    handle: async (input, by) => {
      const { id, refund_usd, reason } = input.body as z.infer<typeof decision>
      const refund = refund_usd === 'all' || refund_usd === 'none' ? refund_usd : parseUsd(refund_usd)
      if (refund === undefined || refund === 0n)
        throw fieldProblem('body.refund_usd', 'must be all, none or decimal USD')
      const outcome = await decideDispute(deps, { id, refund, reason, by: `operator ${by.address}` })
      if (outcome.status === 'refused')
        throw fieldProblem(
          outcome.why === 'more_than_paid' ? 'body.refund_usd' : 'body.id',
          outcome.why.replaceAll('_', ' '),
        )
      return jsonAnswer({ id, state: outcome.state, refund_micro: outcome.refundMicro?.toString() ?? null })
    },
  })
}
