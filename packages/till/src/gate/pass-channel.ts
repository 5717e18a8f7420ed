import { ChainUnreadable } from '../chain/index.ts'
import { identifierHash, requestFingerprint } from '../contract/fingerprint.ts'
import type { GateOutcome, PaidCall } from '../contract/paid-call.ts'
import type { PaymentEnvelope } from '../contract/scheme.ts'
import { Problem } from '../kernel/problem.ts'
import { addressesNamed } from '../proofs/index.ts'
import { type ChannelPayment, decodeChannelPayment } from '../schemes/batch-settlement/decode-channel.ts'
import { type Channels, type ReplayedSale, VoucherRefused } from '../schemes/batch-settlement/index.ts'
import { matchChannel } from '../schemes/batch-settlement/offer-channel.ts'
import { releasedAnswer } from './earlier-payment.ts'
import type { EntitledSales } from './entitled-sale.ts'
import type { GateDeps } from './gate-deps.ts'
import { serveHeld } from './pass-entitled.ts'
import { refuse, refuse402 } from './refuse.ts'

/** A payment of scheme `batch-settlement`: a voucher of a channel, with a deposit where it needs one, or a refund. */
export async function passChannel(
  deps: GateDeps,
  sales: EntitledSales,
  call: PaidCall,
  envelope: PaymentEnvelope,
): Promise<GateOutcome> {
  const { channels } = deps
  if (!channels?.takes(envelope.network))
    return refuse402(deps, call, {
      ...{ code: 'payment_invalid', reason: 'unsupported_scheme', payer: '', network: '' },
      detail: 'Payment channels are not taken on this network.',
    })
  const decoded = decodeChannelPayment(envelope)
  if (decoded.status === 'malformed') return refuse('payment_malformed', { detail: `Payment: ${decoded.detail}.` })
  const { payment } = decoded
  try {
    return await passChannelPayment(deps, channels, sales, call, payment)
  } catch (error) {
    if (error instanceof VoucherRefused) return refuseVoucher(deps, call, payment, error)
    if (error instanceof Problem) return { kind: 'refused', problem: error }
    if (!(error instanceof ChainUnreadable)) throw error
    return refuse('settlement_unavailable', { detail: 'The chain could not be read.', retryAfterSeconds: 3 })
  }
}

async function passChannelPayment(
  deps: GateDeps,
  channels: Channels,
  sales: EntitledSales,
  call: PaidCall,
  payment: ChannelPayment,
): Promise<GateOutcome> {
  const { envelope, config } = payment
  const { resourceUrl, identifier } = envelope
  if (addressesNamed(call.headers).some((address) => address !== config.payer))
    return refuse('forbidden', { detail: 'The payment and the proof name different accounts.' })
  if (payment.type === 'refund') {
    channels.check(payment)
    return refunded(payment, await channels.refund(payment))
  }
  if (resourceUrl !== undefined && resourceUrl !== call.resourceUrl)
    return refuse('payment_resource_mismatch', { detail: `The payment names ${resourceUrl.slice(0, 200)}.` })
  const matched = matchChannel(channels.offering, payment, call, deps.termsOf(call), deps.offers)
  if (matched.status === 'invalid') throw new VoucherRefused(matched.reason, matched.detail)
  channels.check(payment)
  const fingerprint = requestFingerprint(call)
  const named = identifier === undefined ? null : identifierHash(identifier)
  const earlier = named && (await channels.named(payment, named, fingerprint))
  if (earlier === 'taken') return refuse('payment_identifier_conflict', { detail: 'It names another purchase.' })
  if (earlier) return returnSale(call, earlier)
  if (call.inputProblem) return { kind: 'refused', problem: call.inputProblem }
  return channels.sell(
    { payment, terms: matched.terms, fingerprint, identifierHash: named },
    {
      give: (sale) => returnSale(call, sale),
      async serve(hold) {
        deps.metrics.count('entitlements', { port: channels.port.name, outcome: hold.status })
        const outcome = await serveHeld(deps, sales, { call, port: channels.port, hold: hold as never })
        if ('kind' in outcome) {
          if (outcome.kind === 'refused' && outcome.problem instanceof VoucherRefused) throw outcome.problem
          return outcome
        }
        if (outcome.status === 'refused') throw outcome.problem
        throw new Error(`a voucher was ${outcome.status}`)
      },
    },
  )
}

async function returnSale(call: PaidCall, sale: ReplayedSale): Promise<GateOutcome> {
  const { status, contentType, headers, body, paymentResponse } = sale
  return {
    kind: 'served',
    answer: await releasedAnswer(call, { status, contentType, headers, body }, paymentResponse),
    paymentResponse,
    delivered: sale.delivered,
  }
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

function refuseVoucher(
  deps: GateDeps,
  call: PaidCall,
  { config, network }: ChannelPayment,
  problem: VoucherRefused,
): GateOutcome {
  const { reason, correction } = problem
  if (!correction)
    return refuse402(deps, call, {
      ...{ code: 'payment_invalid', reason, detail: problem.message, payer: config.payer, network },
    })
  deps.metrics.count('payments_refused', { reason, route: call.route.id })
  // Without PAYMENT-RESPONSE: stock clients look for the correction only where there is none.
  return { kind: 'refused', problem, ...deps.challenges.corrected(call, reason, correction) }
}
