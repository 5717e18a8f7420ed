import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { type Micro, smallerOf } from '@assay/protocol/money'
import type { TransferAuthorization } from '@assay/protocol/typed-data/transfer-authorization'

export type PayoutState = 'waiting' | 'queued' | 'signed' | 'parked' | 'paid' | 'returned'
export const payoutStates: readonly PayoutState[] = ['waiting', 'queued', 'signed', 'parked', 'paid', 'returned']

export type Payout = {
  id: string
  network: string
  payee: Address
  amountMicro: Micro
  /** Counts against the daily limit of its purpose. */
  countedMicro: Micro
  purpose: string
  subject: string | null
  /** What it pays: a wallet, or the authorization that is refunded. With `n` and the purpose it decides the nonce. */
  account: string
  /** How many nonces of this account were used in final blocks before. */
  n: bigint
  sourceAccount: string | null
  state: PayoutState
  reason: string | null
  approvedBy: string | null
  payer: Address | null
  nonce: Hex | null
  validBefore: bigint | null
  signature: Hex | null
  headBlock: bigint | null
  transaction: Hex | null
  blockNumber: bigint | null
  blockHash: Hex | null
  createdAt: Date
}

/** States that a payout leaves by what the chain shows. */
export const openStates = `('waiting', 'queued', 'signed', 'parked')`

export const payoutColumns = `id, network, payee, amount_micro, uncounted_micro, purpose, subject, account, n, source_account, state, reason, approved_by, payer,
  nonce, valid_before, signature, head_block, transaction, block_number, block_hash, created_at`

// biome-ignore lint/suspicious/noExplicitAny: rows come from the columns above, typed by the driver
export function toPayout(row: any): Payout {
  return {
    id: row.id,
    network: row.network,
    payee: row.payee,
    amountMicro: row.amount_micro,
    countedMicro: row.amount_micro - smallerOf(row.amount_micro, row.uncounted_micro),
    purpose: row.purpose,
    subject: row.subject,
    account: row.account,
    n: row.n,
    sourceAccount: row.source_account,
    state: row.state,
    reason: row.reason,
    approvedBy: row.approved_by,
    payer: row.payer,
    nonce: row.nonce === null ? null : toHex(row.nonce),
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
  const { payer, nonce, validBefore, signature } = payout
  if (payer === null || nonce === null || validBefore === null || signature === null)
    throw new Error(`${payout.id} is not signed`)
  return {
    authorization: {
      from: payer,
      to: payout.payee,
      value: payout.amountMicro,
      validAfter: 0n,
      validBefore,
      nonce,
    },
    signature,
  }
}
