import type { ChainTransfer } from '../chain/index.ts'
import type { OtherUse } from './settlement-result.ts'

type IsOurs = (network: string, address: `0x${string}`) => boolean

/** Reason of a claim under whose key another transfer reached an address of ours; it is posted by its own amount. */
export const paidOtherwise = 'paid_otherwise'

/** Why a claim failed whose payment key was used for something else, in a final block. */
export function reasonOfOtherUse(
  reasons: { canceled: { reason: string }; paidToOthers: { reason: string } },
  isOurs: IsOurs,
  network: string,
  { transfer }: Pick<OtherUse, 'transfer'>,
): { reason: string } {
  if (!transfer) return reasons.canceled
  return broughtMoney(isOurs, network, transfer) ? { reason: paidOtherwise } : reasons.paidToOthers
}

/** A transfer of zero reaches an address and brings nothing. */
export function broughtMoney(
  isOurs: IsOurs,
  network: string,
  { recipient, amountMicro }: Pick<ChainTransfer, 'recipient' | 'amountMicro'>,
): boolean {
  return amountMicro > 0n && isOurs(network, recipient)
}
