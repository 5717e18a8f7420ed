import type { Verification } from '@assay/protocol/signatures/verify-response'
import { type AssayResult, type ClientContext, verifyExchange } from './context.ts'
import { AssayError } from './errors.ts'
import { type Exchange, type PreparedRequest, problemOf } from './exchange.ts'
import { readPaymentOutcome } from './payment-outcome.ts'
import { type AgreedTerms, readOffer, requireAgreed } from './quote.ts'
import { sendUntilAnswered } from './send-until-answered.ts'
import { type Purchase, signPayment } from './sign-payment.ts'
import { type ChosenOffer, requireAllowedHost } from './spending-policy.ts'

/** Pays for one request, or goes on with a purchase that was begun before. */
export async function buy(
  context: ClientContext,
  prepared: PreparedRequest,
  start: { challenge: Exchange; agreed?: AgreedTerms } | { purchase: Purchase },
): Promise<AssayResult> {
  requireAllowedHost(prepared.url, context.policy)
  const purchase = 'purchase' in start ? start.purchase : await signFor(context, prepared, start)
  context.onProgress({ kind: 'paying' })
  const { platform, limits, onProgress } = context
  const received = await sendUntilAnswered(platform, prepared, purchase, limits, onProgress)
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
  const second = await sendUntilAnswered(platform, prepared, again, limits, onProgress)
  return finish(second, again)(await verifyExchange(context, prepared, second, finish(second, again)))
}

/** The price is agreed to, taken from the budget and signed for; nothing is sent. */
export async function signFor(
  context: ClientContext,
  prepared: PreparedRequest,
  { challenge, agreed }: { challenge: Exchange; agreed?: AgreedTerms },
): Promise<Purchase> {
  const { account, platform, budget } = context
  // Moved terms are told as such before the maximum has its say.
  if (agreed !== undefined) requireAgreed(readOffer(context, prepared, challenge, { anyPrice: true }).quote, agreed)
  const { required, chosen, quote } = readOffer(context, prepared, challenge)
  context.onProgress({ kind: 'quoted', quote })
  if (context.confirm && !(await context.confirm(quote))) throw new AssayError('not_confirmed', { quote })
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
  const { required, chosen } = readOffer(context, prepared, received)
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
