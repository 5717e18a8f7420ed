import { fromBase64url } from '@assay/protocol/base64'
import { decodeHeader, readJsonObject } from '@assay/protocol/json-object'
import type { KeySet } from '@assay/protocol/keys/key-directory'
import { parseMicro } from '@assay/protocol/money'
import { type ReceiptVerification, verifyReceipt } from '@assay/protocol/receipt'
import { receiptInHeaders } from '@assay/protocol/receipt-in-headers'
import type { Exchange } from './exchange.ts'
import { chargedInChannel } from './payment-methods/channel.ts'
import type { Purchase } from './sign-payment.ts'

export type PaymentOutcome =
  /** The answer cost nothing. */
  | { status: 'none' }
  | { status: 'settled'; id: string; network: string; amountMicro: string; transaction: string }
  /** Taken from prepaid credit, or from a payment channel: nothing went to the chain. `id` is the name under which the answer is given again. */
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
  const settlement = purchase.paymentMethod === 'mpp' ? settlementIn(received.headers) : responseIn(received.headers)
  if (settlement === undefined) return unconfirmed('PAYMENT-RESPONSE is missing or cannot be read')
  const { success, transaction, network, payer } = settlement
  if (purchase.channel)
    return chargedOutcome(settlement, purchase, purchase.channel) ?? unconfirmed('not what was signed')
  const amountMicro = purchase.paymentMethod === 'upto' ? chargedOf(settlement, purchase) : purchase.amountMicro
  if (amountMicro === undefined) return unconfirmed('more was charged than was signed for')
  if (success !== true || typeof transaction !== 'string' || (transaction === '' && amountMicro !== '0'))
    return unconfirmed('not a success')
  if (network !== purchase.network) return unconfirmed('settled on another network')
  if (typeof payer === 'string' && payer.toLowerCase() !== context.payer.toLowerCase())
    return unconfirmed('settled for another payer')
  return {
    payment: { status: 'settled', id, network: purchase.network, amountMicro, transaction },
    receipt: await readReceipt(settlement, purchase, context),
  }
}

/** By a voucher: its deposit may have gone to the chain, its charge has not. */
function chargedOutcome(
  settlement: Record<string, unknown>,
  { id, network, amountMicro }: Purchase,
  { baseMicro }: NonNullable<Purchase['channel']>,
): { payment: PaymentOutcome; receipt: undefined } | undefined {
  const charged = chargedInChannel(settlement, BigInt(baseMicro), BigInt(amountMicro))
  if (settlement['success'] !== true || settlement['network'] !== network || !charged) return undefined
  const leftMicro = (charged.balanceMicro - charged.chargedMicro).toString()
  return {
    payment: { status: 'drawn', id, network, amountMicro: charged.charge.toString(), leftMicro },
    receipt: undefined,
  }
}

export const responseIn = (headers: Headers) => decodeHeader(headers.get('payment-response') ?? '', 16_384)

/** Payment-Receipt says the same as PAYMENT-RESPONSE in other words, on success only. */
function settlementIn(headers: Headers): Record<string, unknown> | undefined {
  const text = headers.get('payment-receipt') ?? ''
  const said = text.length > 16_384 ? undefined : readJsonObject(fromBase64url(text))
  if (said === undefined) return undefined
  const { status, reference, network, receipt } = said
  const extensions = { 'offer-receipt': { info: { receipt: { format: 'jws', signature: receipt } } } }
  return { success: status === 'success', transaction: reference, network, extensions }
}

/** What was used of a maximum. */
function chargedOf({ amount }: Record<string, unknown>, { amountMicro }: Purchase): string | undefined {
  const charged = typeof amount === 'string' ? parseMicro(amount) : undefined
  return charged === undefined || charged > BigInt(amountMicro) ? undefined : charged.toString()
}

async function readReceipt(
  settlement: Record<string, unknown>,
  purchase: Purchase,
  { payer, keys }: { payer: string; keys: KeySet | undefined },
): Promise<ReceiptVerification | undefined> {
  const jws = receiptInHeaders(settlement)
  if (jws === undefined) return undefined
  const { resource, network } = purchase
  const authority = new URL(resource).host
  return verifyReceipt(jws, {
    keys: keys ?? new Map(),
    authority,
    expected: { resourceUrl: resource, payer, network },
  })
}
