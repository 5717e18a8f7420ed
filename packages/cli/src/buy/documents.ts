import type { AssayResult, Quote } from '@assay/sdk'

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
