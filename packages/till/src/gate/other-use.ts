import type { OtherUse } from './settle-payment.ts'

/** Why a claim failed whose nonce was used for something else, in a final block. */
export type OtherUseReason =
  /** Another transfer with this nonce reached an address of ours; it is booked by its own amount. */
  'paid_otherwise' | 'authorization_canceled' | 'nonce_used_elsewhere'

export function otherUseReason(
  isOurs: (network: string, address: `0x${string}`) => boolean,
  network: string,
  { transfer }: Pick<OtherUse, 'transfer'>,
): OtherUseReason {
  if (!transfer) return 'authorization_canceled'
  return isOurs(network, transfer.recipient) ? 'paid_otherwise' : 'nonce_used_elsewhere'
}

export const otherUseDetails: Record<Exclude<OtherUseReason, 'paid_otherwise'>, string> = {
  authorization_canceled: 'The payer cancelled the authorization.',
  nonce_used_elsewhere: 'The nonce was used for a transfer to somebody else.',
}
