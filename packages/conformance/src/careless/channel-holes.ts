import { afterSale } from './dialect-holes.ts'
import { type Asked, answers, goods, type Hole, isServed, unpaid, withReceipt } from './exchange.ts'

/** Serves payments through channels of which this is true. */
const servesChannel = (careless: (channel: NonNullable<Asked['channel']>, body: string) => boolean): Hole =>
  answers((given, { channel }) => (channel && !isServed(given) && careless(channel, given.body) ? goods : given))

const voucherOf = ({ channel }: Asked) => (channel?.type === 'voucher' ? channel.voucher.signature : undefined)
const sale = ({ target, restarts }: Asked) => ({ target, restarts })

/** Sells on after the rest of a channel was given back. */
const forgetsRefunds: Hole = (sell) => {
  const refunded = new Set<string>()
  return async (asked) => {
    const id = asked.channel?.voucher.channelId ?? ''
    const given = await sell(asked)
    if (asked.channel?.type === 'refund' && isServed(given)) refunded.add(id)
    return asked.channel?.type === 'voucher' && refunded.has(id) ? goods : given
  }
}

export const channelHoles: Record<string, Hole> = {
  'channel-copies': afterSale(voucherOf, sale, (given, asked, sold) =>
    asked.target !== sold.target && asked.restarts === sold.restarts ? goods : given,
  ),
  'channel-vouchers': servesChannel((_channel, body) => body.includes('voucher_signature')),
  'channel-amounts': servesChannel(({ voucher }) => voucher.maxClaimableAmount === '1'),
  'channel-terms': servesChannel(({ channelConfig: { payer, receiver } }) => payer === receiver),
  'channel-deposit': servesChannel(({ deposit }, body) => !!deposit && body.includes('deposit_simulation_failed')),
  'channel-refund': forgetsRefunds,
  'channel-lost-answer': afterSale(voucherOf, sale, (given, asked, sold) =>
    asked.target === sold.target ? unpaid(given) : given,
  ),
  'channel-restart': afterSale(voucherOf, sale, (given, asked, sold) =>
    asked.restarts === sold.restarts ? given : goods,
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
