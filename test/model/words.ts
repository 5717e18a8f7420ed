/** The reasons of a scheme; which words they are decides nothing. */
export const words = {
  canceled: { reason: 'canceled' },
  elsewhere: { reason: 'used_elsewhere' },
  expired: 'expired',
}
