import { type ReversalHook, requestRefund } from '../../payments/index.ts'
import type { OptionDeps } from './deps.ts'

/** Buyers whose money arrived after their contracts had gone back to the book get it back, without asking. */
export async function refundLost({ database, log }: OptionDeps): Promise<number> {
  const { rows } = await database.query<{ id: string }>(
    `select p.id from option_position o join payment p on p.id = o.payment_id
     where o.state = 'released' and p.state = 'credited'
       and not exists (select from refund r where r.payment_id = p.id) limit 100`,
  )
  for (const { id } of rows) {
    const outcome = await requestRefund(database, {
      paymentId: id,
      reason: 'the contracts were gone when the money arrived',
      by: 'options',
    })
    log.warn({ paymentId: id, outcome: outcome.status }, 'a buyer of options came too late and is refunded')
  }
  return rows.length
}

/** A part of a premium cannot be given back: the rest would no longer cover the contract. */
export const refusePartRefunds: ReversalHook = async (_tx, sale, part) => {
  const isOption = sale.routeId === 'options.buy' || sale.routeId === 'options.write'
  if (isOption && part.reason === 'refund' && part.micro !== sale.amountMicro)
    throw new Error(`${sale.paymentId}: option money is given back whole or not at all`)
}
