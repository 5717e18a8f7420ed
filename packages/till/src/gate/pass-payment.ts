import { bindingContentType, bindingNonce, isTaggedNonce } from '@assay/protocol/request-binding'
import { ChainUnreadable } from '../chain/index.ts'
import { identifierHash, requestFingerprint } from '../contract/fingerprint.ts'
import type { GateOutcome, PaidCall } from '../contract/paid-call.ts'
import { nowSeconds } from '../kernel/clock.ts'
import { keccak256 } from '../kernel/keccak.ts'
import { addressesNamed } from '../proofs/index.ts'
import { type DecodedPayment, decodePayment } from '../schemes/exact/decode-payment.ts'
import { matchTerms } from '../schemes/exact/match-terms.ts'
import { checkSignature, checkWindow, type SignatureOutcome } from '../schemes/exact/verify-authorization.ts'
import { broughtMoney } from '../transitions/other-use.ts'
import { isOver as isOverState } from '../transitions/payment-state.ts'
import { answerDuplicate, reachedUs } from './earlier-payment.ts'
import type { GateDeps, VerifiedPayment } from './gate-deps.ts'
import { isFinal } from './is-final.ts'
import { becomesCredit, dustDetail } from './other-use.ts'
import { type PassEntitled, passCredit } from './pass-credit.ts'
import { refuse, refuse402 } from './refuse.ts'
import { sellAnswer } from './sell-answer.ts'
import { findConflict } from './store-advance.ts'

/** A request that carries a payment: everything that can be known without taking anything is checked first. */
export async function passPayment(
  deps: GateDeps,
  call: PaidCall,
  header: string,
  passEntitled: PassEntitled,
): Promise<GateOutcome> {
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
  if (decoded.status === 'credit') return passCredit(deps, call, decoded.credit, passEntitled)
  // A proof beside a payment adds nothing, but one that speaks for somebody else means that the caller is mistaken.
  if (addressesNamed(call.headers).some((address) => address !== decoded.payment.authorization.from))
    return refuse('forbidden', { detail: 'The payment and the proof name different accounts.' })
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
    return refuse('payment_resource_mismatch', { detail: `The payment names ${payment.resourceUrl.slice(0, 200)}.` })
  if (!bindingFits(call, payment))
    return unlessClaimed(
      deps,
      call,
      payment,
      invalid('invalid_request_binding', 'The nonce is not that of this request.', 'payment_binding_invalid'),
    )
  const matched = matchTerms(call, payment, deps.termsOf(call), deps.offers)
  if (matched.status === 'refused') return unlessClaimed(deps, call, payment, invalid(matched.reason, matched.detail))
  if (call.inputProblem) return { kind: 'refused', problem: call.inputProblem }

  const window = checkWindow(payment, matched.terms, nowSeconds(deps.clock))
  if (window.status === 'invalid') return unlessClaimed(deps, call, payment, invalid(window.reason, window.detail))
  const signature = await signatureOutcome(deps, payment)
  if (signature.status === 'could_not_check')
    return refuse('settlement_unavailable', { detail: signature.reason, retryAfterSeconds: 3 })
  if (signature.status === 'invalid') return invalid(signature.reason, signature.detail)
  return {
    ...presentedBy(call, payment),
    terms: matched.terms,
    payer: authorization.from,
    payerIsKey: signature.by === 'key',
    signedDigest: signature.digest,
    signature: payment.signature,
    value: authorization.value,
    validAfter: authorization.validAfter,
    validBefore: authorization.validBefore,
  }
}

const presentedBy = (call: PaidCall, payment: DecodedPayment) => ({
  network: payment.network,
  paymentKey: payment.authorization.nonce,
  fingerprint: requestFingerprint(call),
  identifierHash: payment.identifier === undefined ? null : identifierHash(payment.identifier),
})

/**
 * A 402 asks to pay again. An authorization that does not fit any more, because its time or our price has passed, may
 * be one that has paid us: then it gets what that payment entitles to.
 */
async function unlessClaimed(
  deps: GateDeps,
  call: PaidCall,
  payment: DecodedPayment,
  refusal: GateOutcome,
): Promise<GateOutcome> {
  const { from, nonce } = payment.authorization
  const { network } = payment
  const earlier = await findConflict(deps.database, { network, payer: from, paymentKey: nonce, identifierHash: null })
  const isOver = !earlier || isOverState(earlier.state)
  if (isOver && !earlier?.final) return unlessCarried(deps, call, payment, refusal)
  if (isOver && !(await reachedUs(deps, earlier))) return refusal
  // Whoever did not sign it has nothing to learn about it.
  const signature = await signatureOutcome(deps, payment)
  if (signature.status === 'could_not_check')
    return refuse('settlement_unavailable', { detail: signature.reason, retryAfterSeconds: 3 })
  if (signature.status === 'invalid') return refusal
  if (isOver) return refuse('payment_credited', { extra: { status_url: deps.statusUrl(earlier.id) } })
  const answer = await answerDuplicate(deps, call, presentedBy(call, payment), earlier)
  return answer.kind === 'reclaimable' ? refusal : answer
}

/** How far back an authorization may have been used that nobody claimed. */
const carriedWithinBlocks = 5_000n

/**
 * No claim stands, but anyone may have carried the authorization to the chain: its money then becomes the payer's
 * credit once it is final, and a 402 would ask for it a second time.
 */
async function unlessCarried(
  deps: GateDeps,
  call: PaidCall,
  payment: DecodedPayment,
  refusal: GateOutcome,
): Promise<GateOutcome> {
  const { from, to, nonce } = payment.authorization
  const chain = deps.chains.get(payment.network)
  if (!chain || !deps.termsOf(call).some((terms) => terms.payTo === to)) return refusal
  const signature = await signatureOutcome(deps, payment)
  if (signature.status === 'invalid') return refusal
  if (signature.status === 'could_not_check')
    return refuse('settlement_unavailable', { detail: signature.reason, retryAfterSeconds: 3 })
  try {
    if (!(await chain.authorizationUsed(from, nonce, 'latest'))) return refusal
    const head = (await chain.head()).number
    const searchFrom = head > carriedWithinBlocks ? head - carriedWithinBlocks : 0n
    const found = await chain.nonceUse(from, nonce, searchFrom)
    if (found.status === 'absent' || found.status === 'could_not_read')
      return refuse('settlement_unknown', { retryAfterSeconds: 10 })
    const moved = found.status === 'transfer' ? found.transfer : undefined
    const reachedUs = moved !== undefined && broughtMoney(deps.isOurs, payment.network, moved)
    if (!reachedUs || !(await becomesCredit(deps.database, payment.network, moved))) {
      const use = found.status === 'transfer' ? found.transfer : found
      // Until then a reorganisation could free the nonce, and the money would move after all.
      if (!(await isFinal(chain, use))) return refuse('settlement_unknown', { retryAfterSeconds: 10 })
      return reachedUs ? refuse('payment_nonce_reused', { detail: dustDetail }) : refusal
    }
  } catch (error) {
    if (!(error instanceof ChainUnreadable)) throw error
    return refuse('settlement_unavailable', { detail: error.message, retryAfterSeconds: 3 })
  }
  return refuse('payment_credited', { detail: 'Its money becomes your credit once the transfer is final.' })
}

async function signatureOutcome(deps: GateDeps, payment: DecodedPayment): Promise<SignatureOutcome> {
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
  const nonce = bindingNonce(
    {
      method: call.method,
      resource: call.resourceUrl,
      contentType: bindingContentType(call.contentType),
      bodyDigest: call.bodyDigest,
      salt: payment.bindingSalt,
    },
    keccak256,
  )
  return nonce === payment.authorization.nonce
}
