import type { AssayResult, Quote } from '@assay/sdk'
import { CliError, exitCodes } from '../exit-codes.ts'
import { oneLine, paymentIdOf } from './describe.ts'

/** A quote in the shape of our JSON. */
export function quoteDocument(quote: Quote) {
  return {
    resource: quote.resource,
    description: quote.description,
    price_usd: quote.priceUsd,
    amount_micro: quote.amountMicro,
    network: quote.network,
    asset: quote.asset,
    pay_to: quote.payTo,
    bound: quote.bound,
    payment_method: quote.paymentMethod,
    why: quote.why,
    ...(quote.advice === undefined ? {} : { advice: quote.advice }),
  }
}

export function paymentDocument(
  payment: AssayResult['payment'],
  body: unknown,
  quote?: Pick<Quote, 'payTo' | 'priceUsd'>,
) {
  return {
    status: payment.status,
    ...(quote === undefined ? {} : { price_usd: quote.priceUsd, pay_to: quote.payTo }),
    ...(payment.status === 'settled'
      ? {
          network: payment.network,
          amount_micro: payment.amountMicro,
          transaction: payment.transaction,
          payment_id: paymentIdOf(body) ?? null,
        }
      : {}),
    ...(payment.status === 'drawn'
      ? { network: payment.network, amount_micro: payment.amountMicro, left_micro: payment.leftMicro ?? null }
      : {}),
    ...(payment.status === 'unconfirmed' ? { reason: payment.reason } : {}),
  }
}

/** What the node refused, in its own words: its problems say what to do next. */
export function refusal(
  { response, payment }: Pick<AssayResult, 'response' | 'payment'>,
  body: unknown,
  quote?: Pick<Quote, 'priceUsd'>,
): CliError {
  const { status } = response
  const problem = (body ?? {}) as Record<string, unknown>
  const text = (name: string) => (typeof problem[name] === 'string' ? oneLine(problem[name] as string) : undefined)
  const price = text('price_usd')
  const after = response.headers.get('retry-after')
  const moved = status === 402 && quote !== undefined && price !== undefined && Number(price) > Number(quote.priceUsd)
  const what = [text('title') ?? `the node answered ${status}`, text('detail') ?? text('reason')].filter(Boolean)
  const paid = payment.status === 'unconfirmed' ? ' The money may have moved.' : ''
  return new CliError(
    // What a mandate does not cover is refused by the policy of its owner.
    moved || text('code')?.startsWith('mandate_') ? exitCodes.refused : exitCodes.failed,
    moved ? 'terms_moved' : (text('code') ?? `status_${status}`),
    `${what.join(': ')}${paid}`,
    {
      ...(text('hint') === undefined ? {} : { hint: text('hint') as string }),
      details: {
        status,
        retryable: problem['retryable'] === true,
        ...(after === null ? {} : { retry_after_seconds: Number(after) }),
        ...(text('status_url') === undefined ? {} : { status_url: text('status_url') }),
      },
    },
  )
}

/** The answer as it goes into our JSON: a text where it is no JSON. */
export function answerOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function verifiedDocument(verified: AssayResult['verified']) {
  if (verified.status === 'invalid') return { status: verified.status, reason: verified.reason }
  if (verified.status === 'unsigned') return { status: verified.status }
  if (verified.status === 'unknown_key') return { status: verified.status, key_id: verified.keyId }
  return {
    status: verified.status,
    key_id: verified.keyId,
    signed_at: new Date(verified.created * 1000).toISOString(),
  }
}

/** The receipt itself keeps the names x402 gave it. */
export function receiptDocument(receipt: AssayResult['receipt']) {
  if (receipt === undefined) return null
  if (receipt.status === 'invalid') return { status: receipt.status, reason: receipt.reason }
  return { status: receipt.status, key_id: receipt.keyId, receipt: receipt.receipt }
}
