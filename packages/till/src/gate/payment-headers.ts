import type { PaymentDialect } from '../contract/payment-dialect.ts'
import { Problem } from '../kernel/problem.ts'

export type PaymentHeaders = { dialect: PaymentDialect; header: string } | 'none' | { problem: Problem }

/** Two payments in one request, in any dialects, are refused, because it is unknown which was meant. */
export function createHeaderReader(dialects: readonly PaymentDialect[]) {
  const known = dialects.flatMap((dialect) => dialect.headers.map((place) => ({ dialect, ...place })))
  return (headers: ReadonlyMap<string, string>): PaymentHeaders => {
    let sent: (typeof known)[number] | undefined
    let value = ''
    for (const place of known) {
      const found = place.find(headers)
      if (found === undefined) continue
      if (sent) return malformed(`${sent.name} and ${place.name} were both sent; send one.`)
      sent = place
      value = found
    }
    if (!sent) return 'none'
    if (sent.refusal) return { problem: new Problem(sent.refusal) }
    // A comma can only come from two headers joined into one: which of them was meant is unknown.
    return value.includes(',')
      ? malformed(`${sent.name} was sent more than once.`)
      : { dialect: sent.dialect, header: value }
  }
}

const malformed = (detail: string) => ({ problem: new Problem('payment_malformed', { detail }) })
