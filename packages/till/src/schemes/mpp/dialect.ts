import type { GateOutcome, PaidCall } from '../../contract/paid-call.ts'
import type { PaymentDialect, SentPayment } from '../../contract/payment-dialect.ts'
import { Problem } from '../../kernel/problem.ts'
import type { ChallengeSecrets } from '../../signing/index.ts'
import { createChallengeWriter, type MppDeps, mppQuotes, requestHash } from './challenge.ts'
import { checkChallenge, decodeCredential, envelopeOf, isPaymentCredential } from './credential.ts'
import { paymentReceipt } from './receipt.ts'

const headers: PaymentDialect['headers'] = [
  {
    name: 'Authorization: Payment',
    find: (given) => {
      const authorization = given.get('authorization')
      return isPaymentCredential(authorization) ? authorization : undefined
    },
  },
  { name: 'Payment-Authorization', find: (given) => given.get('payment-authorization') },
]

/** The Payment authentication scheme: the authorizations of `exact` in other words. */
export const createMppDialect = (deps: MppDeps): PaymentDialect => ({
  headers,
  read: (header, call) => readCredential(deps.secrets, header, call),
  write: writeOutcome,
  challenge: (resourceUrl, offered) => {
    const terms = offered.flatMap((one) => (one.scheme.id === 'exact' ? [one.terms] : []))
    const quotes = mppQuotes(resourceUrl, terms)
    return quotes.length === 0 ? undefined : (call) => createChallengeWriter(deps, quotes, requestHash(call))
  },
})

/** Where it is not offered, its credentials are still recognized, so that nobody's payment is overlooked. */
export const refusedMppDialect: PaymentDialect = {
  headers,
  read: () => malformed('Payment credentials are not taken here; send PAYMENT-SIGNATURE.'),
}

const malformed = (detail: string): SentPayment => ({ problem: new Problem('payment_malformed', { detail }) })

async function readCredential(secrets: ChallengeSecrets, header: string, call: PaidCall): Promise<SentPayment> {
  const decoded = decodeCredential(header)
  if (decoded.status === 'malformed') return malformed(`Payment credential: ${decoded.detail}.`)
  const verdict = await checkChallenge(secrets, decoded.credential, requestHash(call))
  if (verdict === 'other_request') {
    const detail = 'The challenge was for another method, URL or body.'
    return { problem: new Problem('payment_resource_mismatch', { detail }) }
  }
  if (verdict === 'ok') return { envelope: envelopeOf(decoded.credential, true) }
  return { envelope: envelopeOf(decoded.credential, false), invalid: verdict }
}

/** A receipt accompanies success only; what x402 says of a failure has no place in this dialect. */
function writeOutcome(outcome: GateOutcome): GateOutcome {
  if (outcome.kind === 'challenge') return outcome
  const { paymentResponse, ...rest } = outcome
  if (rest.kind === 'refused' || paymentResponse === undefined) return rest
  const { status } = rest.answer
  const receipt = status >= 200 && status < 300 ? paymentReceipt(paymentResponse) : undefined
  return receipt === undefined ? rest : { ...rest, paymentReceipt: receipt }
}
