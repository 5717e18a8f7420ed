import { chainOfAsset } from '@assay/protocol/asset'
import type { Json } from '@assay/protocol/canonical-json'

/** PAYMENT-RESPONSE of a settled payment, with the signed receipt of the offer-receipt extension. */
export function encodeSuccess(settled: {
  payer: string
  transaction: string
  network: string
  amount: string
  receipt: string
}): string {
  return encode({
    success: true,
    payer: settled.payer,
    transaction: settled.transaction,
    network: chainOfAsset(settled.network),
    amount: settled.amount,
    extensions: { 'offer-receipt': { info: { receipt: { format: 'jws', signature: settled.receipt } } } },
  })
}

/** PAYMENT-RESPONSE of a draw of credit: nothing went to the chain, so there is no transaction to name. */
export function encodeDraw(drawn: {
  payer: string
  network: string
  amount: string
  call: string
  left: string
}): string {
  return encode({
    success: true,
    payer: drawn.payer,
    transaction: '',
    network: chainOfAsset(drawn.network),
    amount: drawn.amount,
    extensions: { credit: { info: { call: drawn.call, left: drawn.left } } },
  })
}

/** PAYMENT-RESPONSE of a sale or a refund in a payment channel, with the state of the channel after it. */
export function encodeChannelSale(sold: {
  payer: string
  network: string
  transaction: string
  amount: string
  extra: Record<string, Json>
}): string {
  return encode({ success: true, ...sold })
}

/** PAYMENT-RESPONSE of a payment that was refused: no transaction, no money moved. */
export function encodeFailure(failed: { reason: string; message: string; payer: string; network: string }): string {
  return encode({
    success: false,
    errorReason: failed.reason,
    errorMessage: failed.message,
    payer: failed.payer,
    transaction: '',
    network: chainOfAsset(failed.network),
  })
}

function encode(value: Json): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}
