import { takesCredit } from '../contract/credit-terms.ts'
import type { EntitlementPort } from '../contract/entitlement.ts'
import type { GateOutcome, PaidCall } from '../contract/paid-call.ts'
import type { PaymentEnvelope } from '../contract/scheme.ts'
import { acceptSignature } from '../proofs/index.ts'
import { answerEarlier } from './earlier-payment.ts'
import type { GateDeps } from './gate-deps.ts'
import { refuse, refuse402 } from './refuse.ts'

export type PassEntitled = (ports: readonly EntitlementPort[]) => Promise<GateOutcome>

/**
 * A payment of scheme `credit`. It moves nothing by itself: it names the price its sender agreed to, and the signature of
 * the request proves who that is. So a price that rose meanwhile is never drawn.
 */
export async function passCredit(
  deps: GateDeps,
  call: PaidCall,
  payment: PaymentEnvelope,
  passEntitled: PassEntitled,
): Promise<GateOutcome> {
  const invalid = (reason: string, detail: string) =>
    refuse402(deps, call, { code: 'payment_invalid', reason, detail, payer: '', network: payment.network })
  if (!takesCredit(call.route)) return invalid('unsupported_scheme', 'Credit does not buy credit.')
  if (payment.resourceUrl !== undefined && payment.resourceUrl !== call.resourceUrl)
    return refuse('payment_resource_mismatch', { detail: `The payment names ${payment.resourceUrl.slice(0, 200)}.` })
  const ports = deps.entitlements.filter((port) => port.drawsCredit && port.claims(call.headers))
  if (ports.length === 0)
    return refuse('proof_required', {
      detail: 'Scheme credit needs the request itself to be signed.',
      headers: { 'accept-signature': acceptSignature },
    })
  if (payment.amount === call.priceMicro.toString()) return passEntitled(ports)
  // A 402 asks to pay again, and this may be a call that was paid for before the price moved.
  const earlier = await answerEarlier(call, ports)
  return (
    earlier ??
    invalid('invalid_credit_amount', `The price is ${call.priceMicro}, in atomic units of USDC (6 decimals).`)
  )
}
