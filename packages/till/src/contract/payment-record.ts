import type { Address } from '@assay/protocol/address'
import type { AssetId } from '@assay/protocol/asset'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import type { MovedMoney } from '../ledger/index.ts'
import type { PaymentState } from '../transitions/payment-state.ts'

/** What a payment was claimed for: the stored quote, as it stays for as long as the row does. */
export type ClaimedPayment = {
  id: string
  network: string
  asset: AssetId
  payer: Address
  scheme: string
  /** What the scheme lets this payer use once on this chain. */
  paymentKey: Hex
  /** Digest of all that the payer signed. */
  signedDigest: Buffer
  payTo: Address
  payee: 'pay_to' | 'custody'
  quotedMicro: Micro
  /** What is charged: the quote, until the answer is prepared. */
  amountMicro: Micro
  validBefore: bigint
  routeId: string
  resource: string
  fingerprint: Buffer
  identifierHash: Buffer | null
  ref: Address | null
  aff: Address | null
  revocable: boolean
  /** What is sold is credit of the payer. */
  addsCredit: boolean
  headBlock: bigint
}

/** A payment as read from its row. */
export type PaymentRecord = Omit<ClaimedPayment, 'signedDigest'> & {
  state: PaymentState
  /** Null for a transfer that nobody claimed. */
  signedDigest: Buffer | null
  owner: bigint
  clientGone: boolean
  claimedAt: Date
  transaction: Hex | null
  blockNumber: bigint | null
  blockHash: Hex | null
  /** Position of the transfer that paid it, within its transaction. */
  logPosition: number | null
  reason: string | null
  provisional: boolean
  final: boolean
  reorgs: number
  settledAt: Date | null
  deliveredAt: Date | null
}

export type StoredAnswer = {
  status: number
  contentType: string
  headers: Record<string, string>
  body: Buffer
  reservation: Json
  paymentResponse: string | null
}

export const paymentColumns = `id, state, network, asset, payer, scheme, payment_key, signed_digest, pay_to, payee, quoted_micro, amount_micro, valid_before, route_id, resource,
  fingerprint, identifier_hash, ref, aff, revocable, adds_credit, owner, client_gone, claimed_at, head_block, transaction, block_number, block_hash,
  log_position, reason, provisional, final, reorgs, settled_at, delivered_at`

// biome-ignore lint/suspicious/noExplicitAny: rows come from the columns above, typed by the driver
export function toPaymentRecord(row: any): PaymentRecord {
  return {
    id: row.id,
    state: row.state,
    network: row.network,
    asset: row.asset,
    payer: row.payer,
    scheme: row.scheme,
    paymentKey: toHex(row.payment_key),
    signedDigest: row.signed_digest,
    payTo: row.pay_to,
    payee: row.payee,
    quotedMicro: row.quoted_micro,
    amountMicro: row.amount_micro,
    validBefore: row.valid_before,
    routeId: row.route_id,
    resource: row.resource,
    fingerprint: row.fingerprint,
    identifierHash: row.identifier_hash,
    ref: row.ref,
    aff: row.aff,
    revocable: row.revocable,
    addsCredit: row.adds_credit,
    owner: row.owner,
    clientGone: row.client_gone,
    claimedAt: row.claimed_at,
    headBlock: row.head_block,
    transaction: row.transaction && toHex(row.transaction),
    blockNumber: row.block_number,
    blockHash: row.block_hash && toHex(row.block_hash),
    logPosition: row.log_position,
    reason: row.reason,
    provisional: row.provisional,
    final: row.final,
    reorgs: row.reorgs,
    settledAt: row.settled_at,
    deliveredAt: row.delivered_at,
  }
}

/** The transfer that paid a payment, as the books record it. */
export function movedMoneyOf(
  claim: { network: string; asset: AssetId; payer: Address; payTo: Address; amountMicro: Micro; paymentKey: Hex },
  evidence: { transaction: Hex; position: number; blockNumber: bigint; blockHash: Hex },
): MovedMoney {
  const { transaction, position, blockNumber, blockHash } = evidence
  const { network, asset, payer, payTo, amountMicro, paymentKey } = claim
  return {
    ...{ network, asset, transaction, position, blockNumber, blockHash, amountMicro, paymentKey },
    sender: payer,
    recipient: payTo,
  }
}
