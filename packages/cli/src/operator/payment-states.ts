/** Every state a payment can be in; docs/payments.md draws how they follow each other. */
export const paymentStates = [
  'claimed',
  'settling',
  'unknown',
  'settled',
  'served',
  'failed',
  'released',
  'credited',
  'refunded',
] as const
