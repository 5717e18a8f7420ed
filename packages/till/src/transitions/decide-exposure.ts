import type { Micro } from '@assay/protocol/money'
import type { PaymentState } from './payment-state.ts'

/** Given away irrevocably for money that is not final, or about to be. What is unknown has given nothing away. */
export const isExposed = (payment: { state: PaymentState; revocable: boolean; final: boolean }): boolean =>
  !payment.revocable && (payment.state === 'settling' || (payment.state === 'served' && !payment.final))

/** Whether a sale may be settled now. Half of the cap is for payers with an earlier final payment. */
export function admitSale(
  sale: { amountMicro: Micro; revocable: boolean },
  { exposedMicro, capMicro }: { exposedMicro: Micro; capMicro: Micro },
): 'yes' | 'known_payer' | 'no' {
  if (sale.revocable) return 'yes'
  if (!hasRoom(sale.amountMicro, { exposedMicro, capMicro })) return 'no'
  return exposedMicro + sale.amountMicro > capMicro / 2n ? 'known_payer' : 'yes'
}

/** Whether something irrevocable of this value may be given away for money that is not final. */
export const hasRoom = (amountMicro: Micro, facts: { exposedMicro: Micro; capMicro: Micro }): boolean =>
  facts.exposedMicro + amountMicro <= facts.capMicro
