import { isRecord } from './json-object.ts'

/** The JWS of the offer-receipt extension in a decoded PAYMENT-RESPONSE. */
export function receiptInHeaders(settlement: Record<string, unknown> | undefined): string | undefined {
  const extensions = isRecord(settlement?.extensions) ? settlement.extensions : {}
  const extension = extensions['offer-receipt']
  const info = isRecord(extension) && isRecord(extension.info) ? extension.info : {}
  const { receipt } = info
  return isRecord(receipt) && receipt.format === 'jws' && typeof receipt.signature === 'string'
    ? receipt.signature
    : undefined
}
