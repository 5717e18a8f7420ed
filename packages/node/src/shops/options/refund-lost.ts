import { NotRefundable, type ReversalHook } from '@assay/till'
import { requestRefund } from '@assay/till/internal'
import type { OptionDeps } from './deps.ts'
import { paidRoutes } from './set-off-debts.ts'

/** Paid for contracts that could not be given. */
export const lostMoneySql = `select p.id from payment p
  where p.phase = 'credited' and p.route_id in (${paidRoutes.map((route) => `'${route}'`).join()})
    and not exists (select from refund r where r.payment_id = p.id)`

/**
 * Anyone who paid for contracts and could not be given them gets the money back, without asking: a buyer whose reservation
 * had lapsed or whose payment landed again after a reorg, a writer or bidder whose series had closed.
 */
export async function refundLost({ database, log }: OptionDeps): Promise<number> {
  const { rows } = await database.query<{ id: string }>(`${lostMoneySql} limit 100`)
  for (const { id } of rows) {
    const outcome = await requestRefund(database, {
      paymentId: id,
      reason: 'the contracts could not be had when the money arrived',
      by: 'options',
    })
    log.warn({ paymentId: id, outcome: outcome.status }, 'money for options came too late and is refunded')
  }
  return rows.length
}

/** A part of a premium cannot be given back: the rest would no longer cover the contract. */
export const refusePartRefunds: ReversalHook = async (_tx, sale, part) => {
  const isOption = paidRoutes.includes(sale.routeId)
  if (isOption && part.reason === 'refund' && part.micro !== sale.amountMicro)
    throw new NotRefundable(`${sale.paymentId}: option money is given back whole or not at all`)
}
