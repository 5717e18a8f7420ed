import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import type { ChainTransfer, SettlementEvidence } from '../chain/index.ts'

export type Confirmed = Extract<SettlementEvidence, { status: 'confirmed' }>

/** What a payment key did instead of our transfer: moved other money, or nothing at all. */
export type OtherUse = { blockNumber: bigint; blockHash: Hex; transfer: ChainTransfer | undefined }

/** What is certain about a payment after an attempt to settle it. */
export type SettlementResult =
  | { status: 'settled'; evidence: Confirmed; feeMicro: Micro; gasGwei: bigint }
  /** Provably no money moved. */
  | { status: 'failed'; reason: string; message?: string; gasGwei: bigint }
  /** The facilitator could not be used and nothing was sent: the same authorization may be tried again. */
  | { status: 'not_sent'; reason: string }
  /** The payment key was spent before our claim: the money is here, but not for this request. */
  | { status: 'spent_before'; evidence: Confirmed }
  /** The payment key was used, and not for our transfer. Only a final block makes that certain. */
  | { status: 'used_otherwise'; use: OtherUse }
  /** Refused after the signed payload had left this process: it can be carried until it expires. */
  | { status: 'refused'; reason: string; gasGwei: bigint }
  /** The facilitator does not serve this payer. */
  | { status: 'payer_refused'; reason: string }
  | { status: 'unknown'; reason: string; transaction?: Hex }
  /** A settlement was reported that our own read contradicts. */
  | { status: 'contradicted'; detail: string }

export const transferUse = (transfer: ChainTransfer): OtherUse => ({
  blockNumber: transfer.blockNumber,
  blockHash: transfer.blockHash,
  transfer,
})
