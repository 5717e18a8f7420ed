import { decodeHeader } from '@assay/protocol/json-object'
import type { KeySet } from '@assay/protocol/keys/key-directory'
import { type ReceiptVerification, verifyReceipt } from '@assay/protocol/receipt'
import { receiptIn } from '@assay/protocol/receipt-in'
import type { Exchange } from './exchange.ts'
import type { Purchase } from './sign-payment.ts'

export type PaymentOutcome =
  /** The answer cost nothing. */
  | { status: 'none' }
  | { status: 'settled'; id: string; network: string; amountMicro: string; transaction: string }
  /** Taken from prepaid credit: nothing went to the chain. `id` is the name under which the answer is given again. */
  | { status: 'drawn'; id: string; network: string; amountMicro: string; leftMicro: string | undefined }
  /** The node refused; its word is that no money moved. */
  | { status: 'refused'; id: string }
  /** An answer came without a settlement that fits; the money may have moved. */
  | { status: 'unconfirmed'; id: string; reason: string }

export async function readPaymentOutcome(
  received: Exchange,
  purchase: Purchase,
  context: { payer: string; keys: KeySet | undefined },
): Promise<{ payment: PaymentOutcome; receipt: ReceiptVerification | undefined }> {
  const { id } = purchase
  if (received.status >= 400) return { payment: { status: 'refused', id }, receipt: undefined }
  const unconfirmed = (reason: string) => ({
    payment: { status: 'unconfirmed', id, reason } as const,
    receipt: undefined,
  })
  const header = received.headers.get('payment-response')
  const settlement = header === null ? undefined : decodeHeader(header, 16_384)
  if (settlement === undefined) return unconfirmed('PAYMENT-RESPONSE is missing or cannot be read')
  const { success, transaction, network, payer } = settlement
  if (success !== true || typeof transaction !== 'string' || transaction === '') return unconfirmed('not a success')
  if (network !== purchase.network) return unconfirmed('settled on another network')
  if (typeof payer === 'string' && payer.toLowerCase() !== context.payer.toLowerCase())
    return unconfirmed('settled for another payer')
  const { amountMicro } = purchase
  return {
    payment: { status: 'settled', id, network: purchase.network, amountMicro, transaction },
    receipt: await readReceipt(settlement, purchase, context),
  }
}

async function readReceipt(
  settlement: Record<string, unknown>,
  purchase: Purchase,
  { payer, keys }: { payer: string; keys: KeySet | undefined },
): Promise<ReceiptVerification | undefined> {
  const jws = receiptIn(settlement)
  if (jws === undefined) return undefined
  const { resource, network } = purchase
  const authority = new URL(resource).host
  return verifyReceipt(jws, {
    keys: keys ?? new Map(),
    authority,
    expected: { resourceUrl: resource, payer, network },
  })
}
