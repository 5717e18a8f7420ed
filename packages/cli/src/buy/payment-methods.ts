/** The payment methods of the SDK, which is loaded only when something is bought. */
import type { PaymentMethod } from '@assay/sdk'

export type { PaymentMethod } from '@assay/sdk'
export const paymentMethods = [
  'exact',
  'permit2',
  'upto',
  'batch-settlement',
  'mpp',
  'credit',
] as const satisfies readonly PaymentMethod[]
