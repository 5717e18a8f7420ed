import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'
import { z } from 'zod'

/** All payments would be counted again at every visit; the newest say who buys now. */
const countedMax = 1_000
const shownMax = 20

const count = z.int().nonnegative()
export const customersShape = z.strictObject({
  payments: count.describe(`How many payments were counted: the newest, ${countedMax} at most.`),
  data: z
    .array(
      z.strictObject({
        wallet: z.string(),
        payments: count,
        amount_micro: z.string().describe('Micro-USDC of what was served.'),
        failed: count.describe('Payments that ended without an answer.'),
        last_at: z.string(),
      }),
    )
    .describe(`The ${shownMax} wallets that paid most of them.`),
})

type Row = {
  payer: Address
  payments: string
  amount_micro: string
  failed: string
  last: Date
  counted: string
}

/** Who bought, by what they paid among the newest payments. */
export async function readCustomers(sql: Sql): Promise<z.infer<typeof customersShape>> {
  const { rows } = await sql.query<Row>(
    `select payer, count(*)::text as payments,
       coalesce(sum(amount_micro) filter (where state = 'served'), 0)::text as amount_micro,
       count(*) filter (where state in ('failed', 'released'))::text as failed, max(claimed_at) as last,
       (sum(count(*)) over ())::text as counted
     from (select payer, state, amount_micro, claimed_at from payment order by id desc limit $1) newest
     group by payer
     order by coalesce(sum(amount_micro) filter (where state = 'served'), 0) desc, payer limit $2`,
    [countedMax, shownMax],
  )
  return {
    payments: Number(rows[0]?.counted ?? 0),
    data: rows.map((row) => ({
      wallet: checksumAddress(row.payer),
      payments: Number(row.payments),
      amount_micro: row.amount_micro,
      failed: Number(row.failed),
      last_at: row.last.toISOString(),
    })),
  }
}
