import type { ReversalHook } from '@assay/till'

/** Remembers that a sale was undone, and whether the aggregation had counted it: the cursor is held, so that it cannot pass meanwhile. */
export const recordReversal: ReversalHook = async (tx, sale, part) => {
  await tx.query(
    `insert into rating_reversal (payment_id, wallet, network, reason, micro, whole, counted, reversed_at)
     select $1, $2, $3, $4, $5, $6, (c.payment_at, c.payment_payer, c.payment_id) >= ($7::timestamptz, $2, $1), now()
     from (select * from rating_cursor for share) c`,
    [
      sale.paymentId,
      sale.payer,
      sale.network,
      part.reason,
      part.micro,
      part.micro >= sale.amountMicro,
      new Date(sale.settledAtMs),
    ],
  )
}
