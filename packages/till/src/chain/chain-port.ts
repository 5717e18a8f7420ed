import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import type { TransferAuthorization } from '@assay/protocol/typed-data/transfer-authorization'
import type { Network } from './network.ts'

export type BlockRef = { number: bigint; hash: Hex; timestamp: number }

/** An EIP-3009 transfer as we quoted it. Evidence is only ever evidence of exactly this. */
export type ExpectedTransfer = { payer: Address; payTo: Address; amountMicro: Micro; nonce: Hex }

export type SettlementEvidence =
  /** `AuthorizationUsed` and the matching `Transfer` stand in one receipt of a sealed block; the gas is that of the whole transaction. */
  | { status: 'confirmed'; transaction: Hex; blockNumber: bigint; blockHash: Hex; position: number; gasGwei: bigint }
  /** The nonce was used up without paying us: cancelled by the payer. */
  | { status: 'canceled'; transaction?: Hex; blockNumber: bigint; blockHash: Hex }
  /** In a sealed block, without using the nonce. */
  | { status: 'reverted'; transaction: Hex; gasGwei: bigint }
  /** The nonce was used for another transfer than the one we quoted: a nonce can be signed any number of times. */
  | { status: 'used_otherwise'; transfer: ChainTransfer }
  /** Not there now; that says nothing about later. */
  | { status: 'absent' }
  | { status: 'could_not_read'; reason: string }

/** A read that gave no answer. It is never an answer of zero or false. */
export class ChainUnreadable extends Error {
  override readonly name: string = 'ChainUnreadable'
}

/**
 * All that the till asks of a chain. Reads that decide about money go to a quorum of endpoints. `payerStatus`, and a balance
 * at the latest block, are the word of one: good news only lets a payment be tried, and the caller reads bad news again.
 */
export type ChainPort = {
  readonly network: Network
  /** At most about a second old: a safe lower bound for later searches. */
  head(): Promise<BlockRef>
  /** `patient`: for work that nobody waits for, which shares what others have read for longer. */
  finalizedBlock(how?: 'patient'): Promise<BlockRef>
  blockHash(number: bigint): Promise<Hex | undefined>
  /** At a named block by quorum; at the latest block a hint from one endpoint. */
  usdcBalance(owner: Address, blockNumber?: bigint): Promise<Micro>
  /** By quorum, in one request. */
  usdcBalances(owners: readonly Address[], blockNumber: bigint): Promise<Micro[]>
  /** Balance, whether the nonce is spent and whether there is code, all at the latest block, in one round trip. */
  payerStatus(payer: Address, nonce: Hex): Promise<PayerStatus>
  authorizationUsed(payer: Address, nonce: Hex, at: 'latest' | 'finalized' | bigint): Promise<boolean>
  settlementByTransaction(transaction: Hex, expected: ExpectedTransfer): Promise<SettlementEvidence>
  settlementByNonce(expected: ExpectedTransfer, fromBlock: bigint): Promise<SettlementEvidence>
  /** Transfers of USDC into or out of any of these as the logs show them, block range inclusive, by quorum. */
  transferLogs(of: Address | readonly Address[], fromBlock: bigint, toBlock: bigint): Promise<TransferLog[]>
  /** Every transfer of USDC in one transaction, from a receipt read by quorum. */
  transfersIn(transaction: Hex): Promise<ChainTransfer[]>
  /** What a nonce was used for, whatever was expected of it. */
  nonceUse(payer: Address, nonce: Hex, fromBlock: bigint): Promise<KeyUse>
  /** Plays a transfer against the latest block; a verdict is one that enough endpoints give alike. */
  simulateTransfer(authorization: TransferAuthorization, signature: Hex): Promise<SimulatedTransfer>
  readonly permit2: Permit2Port
  readonly channels: ChannelsPort
  checkContractSignature(
    address: Address,
    digest: Hex,
    signature: Hex,
  ): Promise<'valid' | 'invalid' | 'could_not_check'>
  /** Chain id, code, EIP-712 name, version and domain of the asset against what we sign for; every difference in words. */
  verifyAsset(): Promise<string[]>
}

/** A transfer as a log shows it. The log index counts through the block, so it changes when the block is reorganised. */
export type TransferLog = {
  transaction: Hex
  blockNumber: bigint
  logIndex: number
  sender: Address
  recipient: Address
  amountMicro: Micro
}

/** A transfer in a sealed block. `position` counts the logs of its transaction, so it survives a reorganisation. */
export type ChainTransfer = {
  transaction: Hex
  position: number
  blockNumber: bigint
  blockHash: Hex
  /** Within the block. */
  logIndex: number
  sender: Address
  recipient: Address
  amountMicro: Micro
  /** The EIP-3009 nonce that carried it; undefined for a plain transfer. */
  paymentKey: Hex | undefined
}

export type PayerStatus = {
  balanceMicro: Micro
  nonceUsed: boolean
  /** The token then asks the account itself (ERC-1271), also where a key could sign for it (EIP-7702). */
  hasCode: boolean
}

export type SimulatedTransfer =
  | { status: 'passes' }
  /** `returnData` is what the token answered. */
  | { status: 'fails'; returnData: Hex }
  | { status: 'could_not_read'; reason: string }

/** Permit2 on this chain. `nonce` is that of an owner, whatever the token. */
export type Permit2Port = {
  /** Whether Permit2 and the contracts of x402 are where clients expect them. */
  isDeployed(): Promise<boolean>
  /** At the latest block or a named one, by quorum. */
  used(owner: Address, nonce: bigint, at: 'latest' | bigint): Promise<boolean>
  /** As `payerStatus`, with what Permit2 may take from the payer. */
  payerStatus(payer: Address, nonce: bigint): Promise<PayerStatus & { allowanceMicro: Micro }>
  /** By quorum. */
  allowance(payer: Address, blockNumber: bigint): Promise<Micro>
  byTransaction(
    transaction: Hex,
    expected: { payer: Address; payTo: Address; amountMicro: Micro; nonce: bigint },
  ): Promise<SettlementEvidence>
  /** Searched from a block at which it was unused. */
  use(payer: Address, nonce: bigint, fromBlock: bigint): Promise<KeyUse>
  /** The permit that a transaction carried through a proxy of x402. */
  permitIn(transaction: Hex): Promise<{ owner: Address; nonce: bigint } | undefined>
}

export type ChannelState = {
  /** All that was paid in and not withdrawn, claimed or not. */
  balanceMicro: Micro
  claimedMicro: Micro
  refundNonce: bigint
  /** Unix seconds; 0 while no withdrawal is pending. */
  withdrawStartedAt: number
  /** The block it was read at. */
  atBlock: bigint
}

export type ClaimedBalance = Pick<ChannelState, 'balanceMicro' | 'claimedMicro'>

/** The contract of payment channels on this chain; all reads by quorum. */
export type ChannelsPort = {
  /** Whether it and what takes deposits are where clients expect them. */
  isDeployed(): Promise<boolean>
  state(channelId: Hex, at: bigint): Promise<ChannelState>
  /** What is in each channel and was claimed from it, in one call. */
  claimedBalances(channelIds: readonly Hex[], at: bigint): Promise<ClaimedBalance[]>
  /** What was claimed for an address, and what of it was sent there. */
  receiver(receiver: Address, at: bigint): Promise<{ claimedMicro: Micro; settledMicro: Micro }>
  /** Channels whose payer began to withdraw, from one block up to where the answer ends. */
  withdrawals(fromBlock: bigint, toBlock: bigint): Promise<{ channelIds: Hex[]; upTo: bigint }>
  /** What a transaction sent to an address out of claimed money. */
  settledIn(transaction: Hex, receiver: Address): Promise<Micro[]>
}

export type KeyUse =
  | { status: 'transfer'; transfer: ChainTransfer }
  /** The transaction is not known where nothing but a changed bit tells of it. */
  | { status: 'canceled'; transaction?: Hex; blockNumber: bigint; blockHash: Hex }
  /** Not found in the blocks that were searched; that says nothing about later ones. */
  | { status: 'absent' }
  | { status: 'could_not_read'; reason: string }
