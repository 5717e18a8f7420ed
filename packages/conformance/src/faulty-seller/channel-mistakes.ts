import { afterSale } from './dialect-mistakes.ts'
import { type Asked, answers, freeAnswer, isServed, type Mistake, unpaid, withReceipt } from './exchange.ts'

/** Serves payments through channels of which this is true. */
const servesChannel = (condition: (channel: NonNullable<Asked['channel']>, body: string) => boolean): Mistake =>
  answers((given, { channel }) => (channel && !isServed(given) && condition(channel, given.body) ? freeAnswer : given))

const voucherOf = ({ channel }: Asked) => (channel?.type === 'voucher' ? channel.voucher.signature : undefined)
const sale = ({ target, restarts }: Asked) => ({ target, restarts })

/** Sells on after the rest of a channel was given back. */
const ignoresRefunds: Mistake = (sell) => {
  const refunded = new Set<string>()
  return async (asked) => {
    const id = asked.channel?.voucher.channelId ?? ''
    const given = await sell(asked)
    if (asked.channel?.type === 'refund' && isServed(given)) refunded.add(id)
    return asked.channel?.type === 'voucher' && refunded.has(id) ? freeAnswer : given
  }
}

export const channelMistakes: Record<string, Mistake> = {
  'channel-copies': afterSale(voucherOf, sale, (given, asked, sold) =>
    asked.target !== sold.target && asked.restarts === sold.restarts ? freeAnswer : given,
  ),
  'channel-vouchers': servesChannel((_channel, body) => body.includes('voucher_signature')),
  'channel-amounts': servesChannel(({ voucher }) => voucher.maxClaimableAmount === '1'),
  'channel-terms': servesChannel(({ channelConfig: { payer, receiver } }) => payer === receiver),
  'channel-deposit': servesChannel(({ deposit }, body) => !!deposit && body.includes('deposit_simulation_failed')),
  'channel-refund': ignoresRefunds,
  'channel-lost-answer': afterSale(voucherOf, sale, (given, asked, sold) =>
    asked.target === sold.target ? unpaid(given) : given,
  ),
  'channel-restart': afterSale(voucherOf, sale, (given, asked, sold) =>
    asked.restarts === sold.restarts ? given : freeAnswer,
  ),
  'channel-receipt': answers((given, { channel }) =>
    channel?.type === 'voucher'
      ? withReceipt(given, ({ extra, ...receipt }) => ({
          ...receipt,
          extra: { ...(extra as object), chargedAmount: '1' },
        }))
      : given,
  ),
}
