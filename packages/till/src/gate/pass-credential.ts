import type { GateOutcome, PaidCall } from '../contract/paid-call.ts'
import { requestHash } from '../schemes/mpp/challenge.ts'
import { checkChallenge, decodeCredential, envelopeOf } from '../schemes/mpp/credential.ts'
import { paymentReceipt } from '../schemes/mpp/receipt.ts'
import type { GateDeps } from './gate-deps.ts'
import { passEnvelope } from './pass-payment.ts'
import { refuse } from './refuse.ts'

/** A request with a credential of the Payment authentication scheme, which carries the same payment in another format. */
export async function passCredential(deps: GateDeps, call: PaidCall, header: string): Promise<GateOutcome> {
  if (!deps.challengeSecrets)
    return refuse('payment_malformed', { detail: 'Payment credentials are not taken here; send PAYMENT-SIGNATURE.' })
  const decoded = decodeCredential(header)
  if (decoded.status === 'malformed')
    return refuse('payment_malformed', { detail: `Payment credential: ${decoded.detail}.` })
  const verdict = await checkChallenge(deps.challengeSecrets, decoded.credential, requestHash(call))
  if (verdict === 'other_request')
    return refuse('payment_resource_mismatch', { detail: 'The challenge was for another method, URL or body.' })
  const envelope = envelopeOf(decoded.credential, verdict === 'ok')
  return inMpp(await passEnvelope(deps, call, envelope, verdict === 'ok' ? undefined : verdict))
}

/** In this format a receipt accompanies success only; the failure details of x402 have no field in it. */
function inMpp(outcome: GateOutcome): GateOutcome {
  if (outcome.kind === 'challenge') return outcome
  const { paymentResponse, ...rest } = outcome
  if (rest.kind === 'refused' || paymentResponse === undefined) return rest
  const { status } = rest.answer
  const receipt = status >= 200 && status < 300 ? paymentReceipt(paymentResponse) : undefined
  return receipt === undefined ? rest : { ...rest, paymentReceipt: receipt }
}
