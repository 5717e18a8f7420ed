import type { FacilitatorPayment } from '../../contract/facilitator.ts'
import { fromHex } from '../../kernel/bytes.ts'
import type { Sql } from '../../store/database.ts'

type HeldPayment = Pick<FacilitatorPayment, 'network' | 'payer' | 'paymentKey'>

/** Who was given a payment, kept over restarts: what one facilitator holds is never given to another. */
export type PaymentHolders = {
  /** Written before anything is sent. Returns the holder, which is another one if that had it first, and whether it is new. */
  take(payment: HeldPayment, facilitator: string): Promise<{ holder: string; isNew: boolean }>
  /** It was never handed out. */
  release(payment: HeldPayment, facilitator: string): Promise<void>
  /** Whether anybody holds anything. */
  any(): Promise<boolean>
}

/** No payment is good for longer than minutes. */
const keptHours = 24

export async function deleteHolders(sql: Sql, nowMs: number): Promise<void> {
  await sql.query(`delete from facilitator_hold where held_at < $1`, [new Date(nowMs - keptHours * 3_600_000)])
}

export function createPaymentHolders(sql: Sql): PaymentHolders {
  const keyOf = ({ network, payer, paymentKey }: HeldPayment) => [network, payer, Buffer.from(fromHex(paymentKey))]
  return {
    take: async (payment, facilitator) => {
      const { rows } = await sql.query<{ holder: string; isNew: boolean }>(
        // The update changes nothing: it gives the row that is there.
        `insert into facilitator_hold as h (network, payer, payment_key, facilitator) values ($1, $2, $3, $4)
         on conflict (payer, network, payment_key) do update set facilitator = h.facilitator
         returning facilitator as holder, xmax = 0 as "isNew"`,
        [...keyOf(payment), facilitator],
      )
      return rows[0] ?? { holder: '', isNew: false }
    },
    any: async () => (await sql.query(`select from facilitator_hold limit 1`)).rowCount > 0,
    release: async (payment, facilitator) => {
      await sql.query(
        `delete from facilitator_hold where network = $1 and payer = $2 and payment_key = $3 and facilitator = $4`,
        [...keyOf(payment), facilitator],
      )
    },
  }
}
