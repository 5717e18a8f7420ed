import type { ChainTransfer } from '../chain/index.ts'
import { transfersOfKey } from '../ledger/index.ts'
import type { Sql } from '../store/database.ts'
import { dustMicro, sendersWithClaims } from './dust.ts'
import type { OtherUse } from './settle-payment.ts'

/** Why a claim failed whose nonce was used for something else, in a final block. */
export type OtherUseReason =
  /** Another transfer with this nonce reached an address of ours; it is booked by its own amount. */
  'paid_otherwise' | 'authorization_canceled' | 'nonce_used_elsewhere'

type IsOurs = (network: string, address: `0x${string}`) => boolean

export function otherUseReason(
  isOurs: IsOurs,
  network: string,
  { transfer }: Pick<OtherUse, 'transfer'>,
): OtherUseReason {
  if (!transfer) return 'authorization_canceled'
  return broughtMoney(isOurs, network, transfer) ? 'paid_otherwise' : 'nonce_used_elsewhere'
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

export const dustDetail = 'The nonce was used for a transfer of less than 0.001 USDC, which is not credited.'

export const otherUseDetails: Record<Exclude<OtherUseReason, 'paid_otherwise'>, string> = {
  authorization_canceled: 'The payer cancelled the authorization.',
  nonce_used_elsewhere: 'The nonce was used for a transfer that brought no money here.',
}
