import type { Micro } from '@assay/protocol/money'
import type { ChannelHashes } from '@assay/protocol/typed-data/channel'
import type { ChainPort, Rpc } from '../../chain/index.ts'
import type { SettlementWallets } from '../../chain/wallet/index.ts'
import type { Correction } from '../../contract/entitled-scheme.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { Problem } from '../../kernel/problem.ts'
import type { Screening } from '../../screening/index.ts'
import type { Database } from '../../store/database.ts'
import type { ChannelCache } from './channel-cache.ts'

/** A chain on which channels are taken: one of our wallets claims from them. */
export type ChannelChain = {
  chain: ChainPort
  rpc: Rpc
  wallets: SettlementWallets
  hashes: ChannelHashes
  /** The newest block with a transaction of ours. */
  seen: { block: bigint }
}

/** The head is shared for a moment; not older than what this process did itself, or than what is known already. */
export async function headOf({ chain, seen }: ChannelChain, known = 0n): Promise<bigint> {
  const { number } = await chain.head()
  return [seen.block, known].reduce((newest, block) => (block > newest ? block : newest), number)
}

export type ChannelPolicy = {
  withdrawDelaySeconds: number
  /** A deposit for so many calls is suggested to clients. */
  callsPerDeposit: number
  /** Vouchers are claimed once a channel owes this much, or after this long. */
  claimMicro: Micro
  claimAfterSeconds: number
  /** What may be unclaimed, in one channel and in all. */
  unclaimedPerChannelMicro: Micro
  unclaimedMicro: Micro
  /** Less is not worth our gas. A deposit leaves enough to be refunded after its first call. */
  depositMicroMin: Micro
  refundMicroMin: Micro
  /** Refunds of one payer, whose gas is ours. */
  refundEverySeconds: number
}

export const defaultChannelPolicy: ChannelPolicy = {
  withdrawDelaySeconds: 86_400,
  callsPerDeposit: 2_000,
  claimMicro: 20_000_000n,
  claimAfterSeconds: 28_800,
  unclaimedPerChannelMicro: 40_000_000n,
  unclaimedMicro: 1_000_000_000n,
  depositMicroMin: 20_000n,
  refundMicroMin: 10_000n,
  refundEverySeconds: 3_600,
}

export type ChannelDeps = {
  database: Database
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
  policy: ChannelPolicy
  chains: ReadonlyMap<string, ChannelChain>
  cache: ChannelCache
  settleMs: number
  /** Without it nobody is screened. */
  screening?: Screening
}

export function chainOf({ chains }: Pick<ChannelDeps, 'chains'>, network: string): ChannelChain {
  const found = chains.get(network)
  if (!found) throw new Error(`no channels are taken on ${network}`)
  return found
}

/** A payment by channel that moved nothing. With a correction, its client can sign again and try once more. */
export class VoucherRefused extends Problem {
  readonly reason: string
  readonly correction: Correction | undefined

  constructor(reason: string, detail: string, correction?: Correction) {
    super('payment_invalid', { detail, extra: { reason } })
    this.reason = reason
    this.correction = correction
  }
}

/** The channel is not as this process knew it: nothing was sold. */
export class ChannelChanged extends Problem {
  constructor() {
    super('payment_in_flight', { detail: 'The channel has changed meanwhile.', retryAfterSeconds: 1 })
  }
}

export const refundPending = () =>
  new Problem('payment_in_flight', { detail: 'A refund of this channel is on its way.', retryAfterSeconds: 5 })

/** One chain after the other: what fails on one of them must not keep the others waiting. */
export async function onEachChain(
  { chains, log }: Pick<ChannelDeps, 'chains' | 'log'>,
  work: (network: string, chain: ChannelChain) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  for (const [network, chain] of chains)
    await work(network, chain).catch((error: unknown) => {
      failures.push(error)
      log.warn({ network, error: String(error) }, 'periodic work on the payment channels of a chain failed')
    })
  if (failures.length > 0) throw failures[0]
}

export const channelReason = (word: string): string => `invalid_batch_settlement_evm_${word}`
