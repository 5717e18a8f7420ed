import type { SchemeSales } from '../../contract/entitled-scheme.ts'
import { identifierHash, requestFingerprint } from '../../contract/fingerprint.ts'
import type { GateOutcome, PaidCall } from '../../contract/paid-call.ts'
import type { PaymentEnvelope } from '../../contract/scheme.ts'
import { Problem } from '../../kernel/problem.ts'
import { payerMismatch, resourceMismatch } from '../match-offer.ts'
import { VoucherRefused } from './channel-deps.ts'
import { checkVoucher } from './check-voucher.ts'
import { type ChannelPayment, decodeChannelPayment } from './decode-channel.ts'
import { type ChannelOffering, matchChannel } from './offer-channel.ts'
import { refundChannel } from './refund-channel.ts'
import { namedSale, type ReplayedSale } from './replay-sale.ts'
import { type SellDeps, sellByVoucher } from './sell-by-voucher.ts'
import type { VoucherPort } from './voucher-port.ts'

export type PassDeps = SellDeps & { offering: ChannelOffering; port: VoucherPort }

/** A payment of scheme `batch-settlement`: a voucher of a channel, with a deposit where it needs one, or a refund. */
export async function passChannel(
  deps: PassDeps,
  call: PaidCall,
  envelope: PaymentEnvelope,
  sales: SchemeSales,
): Promise<GateOutcome> {
  const decoded = decodeChannelPayment(envelope)
  if (decoded.status === 'malformed') throw new Problem('payment_malformed', { detail: `Payment: ${decoded.detail}.` })
  const { payment } = decoded
  try {
    return await sellOrRefund(deps, call, payment, sales)
  } catch (error) {
    if (!(error instanceof VoucherRefused)) throw error
    const { reason, message: detail, correction } = error
    return sales.refuse402({ reason, detail, payer: payment.config.payer, network: payment.network, correction })
  }
}

async function sellOrRefund(
  deps: PassDeps,
  call: PaidCall,
  payment: ChannelPayment,
  sales: SchemeSales,
): Promise<GateOutcome> {
  const { envelope, config } = payment
  const mistaken = payerMismatch(config.payer, call)
  if (mistaken) throw mistaken
  if (payment.type === 'refund') {
    checkVoucher(deps, payment)
    return refunded(payment, await refundChannel(deps, payment))
  }
  const mismatch = resourceMismatch(envelope, call)
  if (mismatch) throw mismatch
  const matched = matchChannel(deps.offering, payment, call, sales.terms(), sales.offers)
  if (matched.status === 'invalid') throw new VoucherRefused(matched.reason, matched.detail)
  checkVoucher(deps, payment)
  const fingerprint = requestFingerprint(call)
  const named = envelope.identifier === undefined ? null : identifierHash(envelope.identifier)
  const earlier = named && (await namedSale(deps, payment, named, fingerprint))
  if (earlier === 'taken') throw new Problem('payment_identifier_conflict', { detail: 'It names another purchase.' })
  const replay = ({ status, contentType, headers, body, paymentResponse, delivered }: ReplayedSale) =>
    sales.returnSold({ answer: { status, contentType, headers, body }, paymentResponse, delivered })
  if (earlier) return replay(earlier)
  if (call.inputProblem) throw call.inputProblem
  return sellByVoucher(
    deps,
    { payment, terms: matched.terms, fingerprint, identifierHash: named },
    { replay, sell: (hold) => sales.sell(deps.port, hold) },
  )
}

/** No data: everybody who knows the newest voucher can ask for it. */
function refunded({ voucher: { channelId } }: ChannelPayment, paymentResponse: string): GateOutcome {
  return {
    kind: 'served',
    answer: {
      ...{ status: 200, contentType: 'application/json' },
      body: JSON.stringify({ message: 'Refund acknowledged', channelId }),
    },
    paymentResponse,
    delivered: () => {},
  }
}
