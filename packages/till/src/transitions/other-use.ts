import type { ChainTransfer } from '../chain/index.ts'
import type { OtherUse } from './settlement-result.ts'

/** Why a claim failed whose payment key was used for something else, in a final block. */
export type OtherUseReason =
  /** Another transfer under this key reached an address of ours; it is booked by its own amount. */
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
