import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Sale } from '../contract/paid-call.ts'
import { creditLines } from '../credit/credit-balance.ts'
import { drawnSale } from '../credit/draw-credit.ts'
import { reversalLines } from '../gate/reversal-lines.ts'
import { accounts, addPayToPart, post } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'

/** A call that was paid from credit. */
export type DrawnCall = {
  id: string
  account: Address
  network: string
  routeId: string
  amountMicro: Micro
  /** False where nothing was taken, or others were paid with it: what they got cannot be reversed from here. */
  isRefundable: boolean
  endedAt: Date | null
}

export async function lockDraw(tx: Tx, id: string): Promise<DrawnCall | undefined> {
  const { rows } = await tx.query<DrawnCall>(
    `select id, account, subject as network, route_id as "routeId", amount as "amountMicro", ended_at as "endedAt",
       state = 'captured' and not to_clearing as "isRefundable"
     from entitled_call where id = $1 and port = 'credit' for update`,
    [id],
  )
  return rows[0]
}

/** The credit is the wallet's again. It counts as money at PAY_TO, for the operator pays it back out of its own money. */
export async function refundCredit(tx: Tx, draw: DrawnCall, micro: Micro): Promise<Sale> {
  const { id, network, account } = draw
  const given = await creditLines(tx, network, account, micro)
  const taken = await reversalLines(tx, draw, micro)
  const lines = [...taken, ...given]
  await post(tx, [{ reference: `refund_draw:${id}`, kind: 'refund', paymentId: id, lines }])
  await addPayToPart(tx, accounts.credit(network, account), given)
  return drawnSale({ ...draw, atMs: draw.endedAt?.getTime() ?? 0 })
}
