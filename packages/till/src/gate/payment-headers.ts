import { isPaymentCredential } from '../schemes/mpp/credential.ts'

/** The payment of a request, and in which of the two formats it was sent. */
export type SentPayment = { dialect: 'x402' | 'mpp'; header: string }

export type PaymentHeaders = SentPayment | 'none' | 'version_1' | { detail: string }

/** Two payments in one request are refused, because it is unknown which was meant. */
export function readPaymentHeaders(headers: ReadonlyMap<string, string>): PaymentHeaders {
  const authorization = headers.get('authorization')
  const sent = [
    { name: 'PAYMENT-SIGNATURE', dialect: 'x402' as const, header: headers.get('payment-signature') },
    { name: 'X-PAYMENT', dialect: 'version_1' as const, header: headers.get('x-payment') },
    {
      name: 'Authorization: Payment',
      dialect: 'mpp' as const,
      header: isPaymentCredential(authorization) ? authorization : undefined,
    },
    { name: 'Payment-Authorization', dialect: 'mpp' as const, header: headers.get('payment-authorization') },
  ].filter((one) => one.header !== undefined)
  const [first, second] = sent
  if (!first) return 'none'
  if (second) return { detail: `${first.name} and ${second.name} were both sent; send one.` }
  const { name, dialect, header = '' } = first
  if (dialect === 'version_1') return 'version_1'
  // A comma can only come from two headers joined into one: which of them was meant is unknown.
  return header.includes(',') ? { detail: `${name} was sent more than once.` } : { dialect, header }
}
