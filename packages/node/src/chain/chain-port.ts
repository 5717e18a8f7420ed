import type { Address } from '../kernel/address.ts'
import type { Hex } from '../kernel/bytes.ts'
import type { Micro } from '../kernel/money.ts'
import type { Network } from './network.ts'

export type BlockRef = { number: bigint; hash: Hex; timestamp: number }

/** An EIP-3009 transfer as we quoted it. Evidence is only ever evidence of exactly this. */
export type ExpectedTransfer = { payer: Address; payTo: Address; amountMicro: Micro; nonce: Hex }

export type SettlementEvidence =
  /** `AuthorizationUsed` and the matching `Transfer` stand in one receipt of a sealed block; the gas is that of the whole transaction. */
  | { status: 'confirmed'; transaction: Hex; blockNumber: bigint; blockHash: Hex; logIndex: number; gasGwei: bigint }
  /** The nonce was used up without paying us: cancelled by the payer. */
  | { status: 'canceled'; transaction: Hex; blockNumber: bigint }
  | { status: 'reverted'; transaction: Hex; gasGwei: bigint }
  /** The nonce was used, but value, asset or recipient are not what we quoted. Never served. */
  | { status: 'mismatch'; detail: string }
  /** Not there now; that says nothing about later. */
  | { status: 'absent' }
  | { status: 'could_not_read'; reason: string }

/** A read that gave no answer. It is never an answer of zero or false. */
export class ChainUnreadable extends Error {
  override readonly name: string = 'ChainUnreadable'
}

/** All that the till asks of a chain. Reads that decide about money go to a quorum of endpoints. */
export type ChainPort = {
  readonly network: Network
  /** At most about a second old: a safe lower bound for later searches. */
  head(): Promise<BlockRef>
  finalizedBlock(): Promise<BlockRef>
  blockHash(number: bigint): Promise<Hex | undefined>
  usdcBalance(owner: Address, blockNumber?: bigint): Promise<Micro>
  /** Balance and whether the nonce is spent, both at the latest block, in one round trip. */
  payerStatus(payer: Address, nonce: Hex): Promise<{ balanceMicro: Micro; nonceUsed: boolean }>
  authorizationUsed(payer: Address, nonce: Hex, at: 'latest' | 'finalized' | bigint): Promise<boolean>
  settlementByTransaction(transaction: Hex, expected: ExpectedTransfer): Promise<SettlementEvidence>
  settlementByNonce(expected: ExpectedTransfer, fromBlock: bigint): Promise<SettlementEvidence>
  /** Transfers of USDC into `recipient`, block range inclusive. */
  inboundTransfers(recipient: Address, fromBlock: bigint, toBlock: bigint): Promise<InboundTransfer[]>
  /** The EIP-3009 nonce that carried a transfer; undefined for a plain one. */
  transferAuthorization(transfer: InboundTransfer): Promise<Hex | undefined>
  outboundTotal(sender: Address, fromBlock: bigint, toBlock: bigint): Promise<Micro>
  checkContractSignature(
    address: Address,
    digest: Hex,
    signature: Hex,
  ): Promise<'valid' | 'invalid' | 'could_not_check'>
  /** Chain id, code, EIP-712 name, version and domain of the asset against what we sign for; every difference in words. */
  verifyAsset(): Promise<string[]>
}

export type InboundTransfer = {
  transaction: Hex
  blockNumber: bigint
  logIndex: number
  sender: Address
  amountMicro: Micro
}
