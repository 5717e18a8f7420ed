/** The reasons of a scheme; their wording decides nothing. */
export const reasons = {
  canceled: { reason: 'canceled' },
  elsewhere: { reason: 'used_elsewhere' },
  expired: 'expired',
}
