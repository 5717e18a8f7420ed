import { type AssayResult, type ClientContext, verifyExchange } from './context.ts'
import { type Exchange, type PreparedRequest, problemOf } from './exchange.ts'
import { readPaymentOutcome } from './payment-outcome.ts'
import { parsePaymentRequired } from './payment-required.ts'
import { sendUntilAnswered } from './send-until-answered.ts'
import { type Purchase, signPayment } from './sign-payment.ts'
import { type ChosenOffer, chooseOffer, requireAllowedHost, requireSameResource } from './spending-policy.ts'
import type { Verification } from './verify-response.ts'

/** Pays for one request, or goes on with a purchase that was begun before. */
export async function buy(
  context: ClientContext,
  prepared: PreparedRequest,
  start: { challenge: Exchange } | { purchase: Purchase },
): Promise<AssayResult> {
  requireAllowedHost(prepared.url, context.policy)
  const purchase = 'purchase' in start ? start.purchase : await signFor(context, prepared, start.challenge)
  const received = await sendUntilAnswered(context.platform, prepared, purchase, context.limits)
  const finish =
    (exchange: Exchange, paid: Purchase) =>
    async (verified: Verification): Promise<AssayResult> => {
      const keys = context.pins.keysOf(new URL(prepared.url).origin)
      const outcome = await readPaymentOutcome(exchange, paid, { payer: context.account.address, keys })
      return { response: exchange.response, ...outcome, verified, purchase: paid }
    }
  const verified = await verifyExchange(context, prepared, received, finish(received, purchase))
  const again = verified.status === 'verified' ? await signAgain(context, prepared, received, purchase) : undefined
  if (again === undefined) return finish(received, purchase)(verified)
  const second = await sendUntilAnswered(context.platform, prepared, again, context.limits)
  return finish(second, again)(await verifyExchange(context, prepared, second, finish(second, again)))
}

async function signFor(context: ClientContext, prepared: PreparedRequest, challenge: Exchange): Promise<Purchase> {
  const { account, platform, policy, budget } = context
  const required = parsePaymentRequired(challenge.headers.get('payment-required'))
  requireSameResource(required, prepared.url)
  const chosen = chooseOffer(required, policy, account.address)
  budget.take(chosen.amountMicro)
  return signPayment({ account, required, chosen, platform, request: toPay(prepared) })
}

function toPay({ method, headers, body }: PreparedRequest) {
  return { method, contentType: headers.get('content-type'), body }
}

const timeReason = /valid_(?:before|after)/

/**
 * A second authorization, once, when the node proved with a signed 402 that the first moved no money and a fresh one
 * can help. Both together stay under the maximum, so that even a lying seller cannot take more than was allowed.
 */
async function signAgain(
  context: ClientContext,
  prepared: PreparedRequest,
  received: Exchange,
  first: Purchase,
): Promise<Purchase | undefined> {
  if (received.status !== 402) return undefined
  const { code, reason = '' } = problemOf(received)
  if (code !== 'payment_failed' && !timeReason.test(reason)) return undefined
  const { account, platform, policy, budget } = context
  const required = parsePaymentRequired(received.headers.get('payment-required'))
  requireSameResource(required, prepared.url)
  const chosen = chooseOffer(required, policy, account.address)
  if (!sameTerms(chosen, first)) return undefined
  if (chosen.amountMicro + BigInt(first.amountMicro) > policy.maxPerCallMicro) return undefined
  budget.take(chosen.amountMicro)
  return signPayment({ account, required, chosen, platform, request: toPay(prepared), id: first.id })
}

/** A seller that changes payee, asset or price between two answers is not paid a second time. */
function sameTerms({ offer, network, amountMicro }: ChosenOffer, first: Purchase): boolean {
  return (
    network.network === first.network &&
    network.usdc === first.asset &&
    offer.payTo.toLowerCase() === first.payTo.toLowerCase() &&
    amountMicro <= BigInt(first.amountMicro)
  )
}
