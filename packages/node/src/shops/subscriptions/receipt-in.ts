/** The signed receipt inside a PAYMENT-RESPONSE of ours; null where there is none. */
export function receiptIn(paymentResponse: string): string | null {
  if (paymentResponse === '') return null
  try {
    const response = JSON.parse(Buffer.from(paymentResponse, 'base64').toString('utf8')) as Wire
    return response.extensions?.['offer-receipt']?.info?.receipt?.signature ?? null
  } catch {
    return null
  }
}

type Wire = { extensions?: { 'offer-receipt'?: { info?: { receipt?: { signature?: string } } } } }
