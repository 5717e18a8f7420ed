import type { ChainTransfer } from '../chain/index.ts'
import { transfersOfKey } from '../ledger/index.ts'
import type { Sql } from '../store/database.ts'
import { dustMicro, sendersWithClaims } from './dust.ts'

/** Whether a transfer to us is or will be its sender's credit: dust of a sender without claims is posted as a sum only. */
export async function becomesCredit(
  sql: Sql,
  network: string,
  { sender, paymentKey, amountMicro }: Pick<ChainTransfer, 'sender' | 'paymentKey' | 'amountMicro'>,
): Promise<boolean> {
  if (amountMicro >= dustMicro) return true
  if (paymentKey !== undefined && (await transfersOfKey(sql, { network, sender, paymentKey })).length > 0) return true
  return (await sendersWithClaims(sql, network, [sender])).has(sender)
}
