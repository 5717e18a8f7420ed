import type { ChainTransfer } from '../chain/index.ts'
import type { Scheme } from '../contract/scheme.ts'
import { transfersOfKey } from '../ledger/index.ts'
import type { Sql } from '../store/database.ts'
import { dustMicro, sendersWithClaims } from './dust.ts'
import type { OtherUse } from './settle-payment.ts'

type IsOurs = (network: string, address: `0x${string}`) => boolean

/** Another transfer with the key of a claim reached an address of ours; it is booked by its own amount. */
export const paidOtherwise = 'paid_otherwise'

/** Why a claim failed whose key was used for something else, in a final block. */
export function judgeOtherUse(
  { words }: Pick<Scheme, 'words'>,
  isOurs: IsOurs,
  network: string,
  { transfer }: Pick<OtherUse, 'transfer'>,
): { reason: string; detail: string } {
  if (!transfer) return words.canceled
  return broughtMoney(isOurs, network, transfer)
    ? { reason: paidOtherwise, detail: words.usedOtherwise }
    : words.elsewhere
}

/** A transfer of zero reaches an address and brings nothing. */
export function broughtMoney(
  isOurs: IsOurs,
  network: string,
  { recipient, amountMicro }: Pick<ChainTransfer, 'recipient' | 'amountMicro'>,
): boolean {
  return amountMicro > 0n && isOurs(network, recipient)
}

/** Whether a transfer to us is or will be its sender's credit: dust of a sender without claims is booked in sum only. */
export async function becomesCredit(
  sql: Sql,
  network: string,
  { sender, paymentKey, amountMicro }: Pick<ChainTransfer, 'sender' | 'paymentKey' | 'amountMicro'>,
): Promise<boolean> {
  if (amountMicro >= dustMicro) return true
  if (paymentKey !== undefined && (await transfersOfKey(sql, { network, sender, paymentKey })).length > 0) return true
  return (await sendersWithClaims(sql, network, [sender])).has(sender)
}
