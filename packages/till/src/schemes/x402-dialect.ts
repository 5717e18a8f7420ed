import type { PaymentDialect } from '../contract/payment-dialect.ts'
import { Problem } from '../kernel/problem.ts'
import { decodeHeader } from './decode-header.ts'

/** Payments as x402 version 2 writes them. Version 1 is recognized and refused. */
export const x402Dialect: PaymentDialect = {
  headers: [
    { name: 'PAYMENT-SIGNATURE', find: (headers) => headers.get('payment-signature') },
    { name: 'X-PAYMENT', find: (headers) => headers.get('x-payment'), refusal: 'payment_v1' },
  ],
  read: (header) => {
    const decoded = decodeHeader(header)
    if (decoded.status === 'ok') return { envelope: decoded.envelope }
    if (decoded.status === 'version_1') return { problem: new Problem('payment_v1') }
    return { problem: new Problem('payment_malformed', { detail: `Payment: ${decoded.detail}.` }) }
  },
}
