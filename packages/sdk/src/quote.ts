import { isRecord, readJsonObject } from '@assay/protocol/json-object'
import { formatUsd } from '@assay/protocol/money'
import type { ClientContext } from './context.ts'
import { AssayError } from './errors.ts'
import type { Exchange, PreparedRequest } from './exchange.ts'
import { channelScheme } from './payment-methods/channel.ts'
import type { PaymentMethod } from './payment-methods/choose-payment-method.ts'
import { type PaymentRequired, parsePaymentRequired } from './payment-required.ts'
import { offersBinding } from './sign-payment.ts'
import { type ChosenOffer, chooseOffer, requireSameResource } from './spending-policy.ts'

/** What a purchase would cost. Nothing is signed for it. */
export type Quote = {
  resource: string
  description: string
  network: string
  asset: string
  payTo: string
  amountMicro: string
  priceUsd: string
  /** The payment will name the request itself, so that it is worthless for any other. */
  bound: boolean
  /** How it would be paid, and why; with advice where another payment method would be better after some preparation. */
  paymentMethod: PaymentMethod
  why: string
  advice?: string
}

/** Terms that somebody has agreed to; a purchase under others is refused. */
export type AgreedTerms = Pick<Quote, 'network' | 'asset' | 'payTo' | 'amountMicro'>

/** Reads the offer of a 402 under the client's policy. The maximum is left to the caller unless it is asked for. */
export function readOffer(
  context: ClientContext,
  prepared: PreparedRequest,
  challenge: Exchange,
  options: { anyPrice?: boolean } = {},
): { required: PaymentRequired; chosen: ChosenOffer; quote: Quote } {
  const required = requireOffers(challenge)
  requireSameResource(required, prepared.url)
  const policy = options.anyPrice ? { ...context.policy, maxPerCallMicro: anyMicro } : context.policy
  const chosen = chooseOffer(required, policy, context.account.address, challenge.headers.get('www-authenticate'))
  const { description } = required.resource
  return {
    required,
    chosen,
    quote: {
      resource: required.resource.url,
      description: typeof description === 'string' ? description : '',
      network: chosen.network.network,
      asset: chosen.network.usdc,
      payTo: chosen.offer.payTo,
      amountMicro: chosen.amountMicro.toString(),
      priceUsd: formatUsd(chosen.amountMicro),
      // A challenge of the Payment scheme is for one request by itself; a voucher names none.
      bound: chosen.paymentMethod === 'mpp' || (chosen.paymentMethod !== channelScheme && offersBinding(required)),
      ...chosen.choice,
    },
  }
}

/** A node offers nothing for input that has no price, and says what is wrong with it. */
function requireOffers(challenge: Exchange): PaymentRequired {
  try {
    return parsePaymentRequired(challenge.headers.get('payment-required'))
  } catch (error) {
    const problem = readJsonObject(challenge.body)?.input_problem
    throw isRecord(problem) ? new AssayError('input_refused', { status: 402, problem }, error) : error
  }
}

const anyMicro = 10n ** 18n

/** A cheaper offer is as good; a dearer one, or other money for somebody else, is not what was agreed. */
export function requireAgreed(quote: Quote, agreed: AgreedTerms): void {
  const moved = [
    BigInt(quote.amountMicro) > BigInt(agreed.amountMicro)
      ? `the price is now ${quote.priceUsd} USD instead of ${formatUsd(BigInt(agreed.amountMicro))}`
      : undefined,
    same(quote.payTo, agreed.payTo) ? undefined : `the payee is now ${quote.payTo}`,
    same(quote.network, agreed.network) && same(quote.asset, agreed.asset) ? undefined : 'the asset is another one',
  ].filter((text) => text !== undefined)
  if (moved.length > 0) throw new AssayError('terms_moved', { detail: moved.join(', '), quote, agreed })
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
