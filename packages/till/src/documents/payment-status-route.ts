import { z } from 'zod'
import { type PaymentStatus, readPaymentStatus } from '../gate/payment-status.ts'
import { publicIdPattern } from '../kernel/ids.ts'
import { Problem } from '../kernel/problem.ts'
import { type DescribedRoute, jsonAnswer } from '../selling/index.ts'
import type { Database, Sql } from '../store/database.ts'

const status = z.strictObject({
  id: z.string(),
  state: z.enum(['claimed', 'settling', 'unknown', 'settled', 'served', 'failed', 'released', 'credited', 'refunded']),
  next: z.enum(['wait', 'resend', 'pay_again', 'done']).describe('What the payer should do now.'),
  network: z.string(),
  amount_micro: z.string(),
  transaction: z.string().nullable(),
  final: z.boolean(),
  provisional: z.boolean(),
  claimed_at: z.string(),
  settled_at: z.string().nullable(),
  other_transfers: z
    .array(z.strictObject({ transaction: z.string(), amount_micro: z.string(), posted_as: z.string().nullable() }))
    .describe('What arrived with this nonce and did not pay it; credited by its own amount once final.'),
  dispute: z
    .strictObject({
      id: z.string(),
      state: z.enum(['open', 'accepted', 'rejected']),
      refund_micro: z.string().nullable(),
      decision: z.string().nullable().describe('Why, in the words of the operator.'),
      decided_at: z.string().nullable(),
    })
    .nullable()
    .describe('What its payer said about the answer, and what the operator decided.'),
})

const lagMsMax = 1_000

/** What is over may come from a replica; of anything else, and of what is not there yet, the primary reports the newest. */
async function readStatus(database: Sql & Pick<Database, 'within'>, id: string): Promise<PaymentStatus | undefined> {
  const replica = database.within?.(lagMsMax)
  const seen = replica && (await readPaymentStatus(replica, id))
  return seen?.final && seen.next === 'done' ? seen : readPaymentStatus(database, id)
}

/** Status of a payment: state only, never the answer. */
export function paymentStatusRoute(database: Sql & Pick<Database, 'within'>, path: string): DescribedRoute {
  return {
    id: 'payments.status',
    method: 'GET',
    path,
    summary: 'Status of a payment',
    description: 'State only, never the answer. The id comes with every 503 of a payment and with every paid answer.',
    params: z.strictObject({ id: z.string() }),
    output: status,
    example: {
      params: { id: 'pay_06d1z8k4q2v7e9m3x5c0w8r2t4' },
      output: {
        id: 'pay_06d1z8k4q2v7e9m3x5c0w8r2t4',
        state: 'served',
        next: 'done',
        network: 'eip155:8453',
        amount_micro: '1000',
        transaction: `0x${'ab'.repeat(32)}`,
        final: true,
        provisional: false,
        claimed_at: '2026-01-01T00:00:00.000Z',
        settled_at: '2026-01-01T00:00:02.000Z',
        other_transfers: [],
        dispute: null,
      },
    },
    access: {
      kind: 'free',
      handle: async (input) => {
        const { id } = input.params as { id: string }
        const found = publicIdPattern.test(id) ? await readStatus(database, id) : undefined
        if (!found) throw new Problem('not_found', { detail: 'No such payment.' })
        return jsonAnswer(found)
      },
    },
  }
}
