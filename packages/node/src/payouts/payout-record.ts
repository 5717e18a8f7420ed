import type { Address } from '../kernel/address.ts'
import { type Hex, sha256, toHex } from '../kernel/bytes.ts'
import type { TransferAuthorization } from '../kernel/eip3009.ts'
import type { Micro } from '../kernel/money.ts'

export type PayoutState = 'waiting' | 'queued' | 'signed' | 'parked' | 'paid' | 'returned'
export const payoutStates: readonly PayoutState[] = ['waiting', 'queued', 'signed', 'parked', 'paid', 'returned']

export type Payout = {
  id: string
  network: string
  payee: Address
  amountMicro: Micro
  purpose: string
  subject: string | null
  sourceAccount: string | null
  state: PayoutState
  reason: string | null
  payer: Address | null
  validBefore: bigint | null
  signature: Hex | null
  headBlock: bigint | null
  transaction: Hex | null
  blockNumber: bigint | null
  blockHash: Hex | null
  createdAt: Date
}

/** The token accepts each nonce once, so a payout cannot happen twice whatever is sent how often. */
export function payoutNonce(id: string): Hex {
  return toHex(sha256(`assay payout ${id}`))
}

export const payoutColumns = `id, network, payee, amount_micro, purpose, subject, source_account, state, reason, payer, valid_before,
  signature, head_block, transaction, block_number, block_hash, created_at`

// biome-ignore lint/suspicious/noExplicitAny: rows come from the columns above, typed by the driver
export function toPayout(row: any): Payout {
  return {
    id: row.id,
    network: row.network,
    payee: row.payee,
    amountMicro: row.amount_micro,
    purpose: row.purpose,
    subject: row.subject,
    sourceAccount: row.source_account,
    state: row.state,
    reason: row.reason,
    payer: row.payer,
    validBefore: row.valid_before,
    signature: row.signature === null ? null : toHex(row.signature),
    headBlock: row.head_block,
    transaction: row.transaction,
    blockNumber: row.block_number,
    blockHash: row.block_hash,
    createdAt: row.created_at,
  }
}

/** What the custody wallet signed; only for payouts that are signed. */
export function authorizationOf(payout: Payout): { authorization: TransferAuthorization; signature: Hex } {
  const { payer, validBefore, signature } = payout
  if (payer === null || validBefore === null || signature === null) throw new Error(`${payout.id} is not signed`)
  return {
    authorization: {
      from: payer,
      to: payout.payee,
      value: payout.amountMicro,
      validAfter: 0n,
      validBefore,
      nonce: payoutNonce(payout.id),
    },
    signature,
  }
}
