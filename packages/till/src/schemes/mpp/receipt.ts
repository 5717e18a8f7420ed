import { decodeHeader, readJsonObject } from '@assay/protocol/json-object'
import { readJws } from '@assay/protocol/jws'
import { receiptInHeaders } from '@assay/protocol/receipt-in-headers'
import { mppMethod } from './challenge.ts'

const responseBytesMax = 16_384

/** Payment-Receipt, made from the PAYMENT-RESPONSE of the same payment: what was stored once is sent in either dialect. */
export function paymentReceipt(paymentResponse: string): string | undefined {
  const response = decodeHeader(paymentResponse, responseBytesMax)
  const receipt = receiptInHeaders(response)
  const jws = receipt === undefined ? undefined : readJws(receipt)
  const issuedAt = jws && readJsonObject(jws.payload)?.['issuedAt']
  if (response?.['success'] !== true || typeof issuedAt !== 'number') return undefined
  return Buffer.from(
    JSON.stringify({
      method: mppMethod,
      status: 'success',
      timestamp: new Date(issuedAt * 1000).toISOString(),
      reference: response['transaction'],
      network: response['network'],
      amount: response['amount'],
      receipt,
    }),
  ).toString('base64url')
}
