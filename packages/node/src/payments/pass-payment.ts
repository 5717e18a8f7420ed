import { ChainUnreadable } from '../chain/index.ts'
import { fromHex } from '../kernel/bytes.ts'
import { nowSeconds } from '../kernel/clock.ts'
import { bindingContentType, bindingNonce, isTaggedNonce } from '../kernel/request-binding.ts'
import { identifierHash, requestFingerprint } from './fingerprint.ts'
import type { GateDeps, VerifiedPayment } from './gate-deps.ts'
import { matchTerms } from './match-terms.ts'
import type { GateOutcome, PaidCall } from './paid-call.ts'
import { refuse, refuse402 } from './refuse.ts'
import { sellAnswer } from './sell-answer.ts'
import { type AuthorizationOutcome, checkSignature, checkWindow } from './verify-authorization.ts'
import { type DecodedPayment, decodePayment } from './x402/decode-payment.ts'

/** A request that carries a payment: everything that can be known without taking anything is checked first. */
export async function passPayment(deps: GateDeps, call: PaidCall, header: string): Promise<GateOutcome> {
  const decoded = decodePayment(header)
  if (decoded.status === 'version_1') return refuse('payment_v1')
  if (decoded.status === 'malformed')
    return refuse('payment_malformed', { detail: `PAYMENT-SIGNATURE: ${decoded.detail}.` })
  if (decoded.status === 'unsupported')
    return refuse402(deps, call, {
      code: 'payment_invalid',
      reason: decoded.reason,
      detail: decoded.detail,
      payer: '',
      network: '',
    })
  const verified = await verifyPayment(deps, call, decoded.payment)
  return 'kind' in verified ? verified : sellAnswer(deps, call, verified)
}

async function verifyPayment(
  deps: GateDeps,
  call: PaidCall,
  payment: DecodedPayment,
): Promise<VerifiedPayment | GateOutcome> {
  const { authorization } = payment
  const invalid = (
    reason: string,
    detail: string,
    code: 'payment_invalid' | 'payment_binding_invalid' = 'payment_invalid',
  ) => refuse402(deps, call, { code, reason, detail, payer: authorization.from, network: payment.network })

  if (payment.resourceUrl !== undefined && payment.resourceUrl !== call.resourceUrl)
    return refuse('payment_elsewhere', { detail: `The payment names ${payment.resourceUrl.slice(0, 200)}.` })
  if (!bindingFits(call, payment))
    return invalid('invalid_request_binding', 'The nonce is not that of this request.', 'payment_binding_invalid')
  const matched = matchTerms(call, payment, deps.termsOf(call), deps.offers)
  if (matched.status === 'refused') return invalid(matched.reason, matched.detail)
  if (call.inputProblem) return { kind: 'refused', problem: call.inputProblem }

  const window = checkWindow(payment, matched.terms, nowSeconds(deps.clock))
  if (window.status === 'invalid') return invalid(window.reason, window.detail)
  const signature = await signatureOutcome(deps, payment)
  if (signature.status === 'could_not_check')
    return refuse('settlement_unavailable', { detail: signature.reason, retryAfterSeconds: 3 })
  if (signature.status === 'invalid') return invalid(signature.reason, signature.detail)
  return {
    terms: matched.terms,
    payer: authorization.from,
    nonce: authorization.nonce,
    signature: payment.signature,
    value: authorization.value,
    validAfter: authorization.validAfter,
    validBefore: authorization.validBefore,
    fingerprint: requestFingerprint(call),
    identifierHash: payment.identifier === undefined ? null : identifierHash(payment.identifier),
  }
}

async function signatureOutcome(deps: GateDeps, payment: DecodedPayment): Promise<AuthorizationOutcome> {
  const chain = deps.chains.get(payment.network)
  const domainSeparator = deps.domainSeparators.get(payment.network)
  if (!chain || !domainSeparator) throw new Error(`no chain for ${payment.network}`)
  try {
    return await checkSignature(payment, domainSeparator, chain)
  } catch (error) {
    if (error instanceof ChainUnreadable) return { status: 'could_not_check', reason: error.message }
    throw error
  }
}

/** A tagged nonce must come with the salt that proves it, and a salt only makes sense with a tagged nonce. */
function bindingFits(call: PaidCall, payment: DecodedPayment): boolean {
  const tagged = isTaggedNonce(payment.authorization.nonce)
  if (!tagged && !payment.hasBinding) return true
  if (!tagged || payment.bindingSalt === undefined) return false
  const nonce = bindingNonce({
    method: call.method,
    resource: call.resourceUrl,
    contentType: bindingContentType(call.contentType),
    bodyDigest: call.bodyDigest,
    salt: fromHex(payment.bindingSalt),
  })
  return nonce === payment.authorization.nonce
}
