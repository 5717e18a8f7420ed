/** The reasons of a scheme; their wording decides nothing. */
export const reasons = {
  canceled: { reason: 'canceled' },
  paidToOthers: { reason: 'used_elsewhere' },
  expired: 'expired',
}
