import type { Address } from '@assay/protocol/address'
import { createChannelHashes } from '@assay/protocol/typed-data/channel'
import type { ChainPort, Rpc } from '../../chain/index.ts'
import type { SettlementWallets } from '../../chain/wallet/index.ts'
import type { EntitledScheme } from '../../contract/entitled-scheme.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import { keccak256 } from '../../kernel/keccak.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { TransferRow } from '../../ledger/index.ts'
import type { Screening } from '../../screening/index.ts'
import type { Database } from '../../store/database.ts'
import { defaultAnswerDays } from '../../store/partitions.ts'
import { createChannelCache } from './channel-cache.ts'
import { type ChannelChain, type ChannelDeps, type ChannelPolicy, onEachChain } from './channel-deps.ts'
import { createChannelQueue } from './channel-queue.ts'
import { deleteSales } from './channel-store.ts'
import { claimVouchers } from './claim-vouchers.ts'
import { recoverDeposits } from './make-deposit.ts'
import { type ChannelOffering, channelRequirements, channelScheme, sellsByChannel } from './offer-channel.ts'
import { type PassDeps, passChannel } from './pass-channel.ts'
import { compareClaimed, postClaims, settledAccount } from './post-claims.ts'
import { recoverRefunds } from './refund-channel.ts'
import { createUnclaimed } from './unclaimed.ts'
import { createVoucherPort } from './voucher-port.ts'
import { watchWithdrawals } from './watch-withdrawals.ts'

export type ChannelsOptions = {
  database: Database
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
  policy: ChannelPolicy
  /** Where the contract is deployed and a wallet of ours claims. */
  chains: readonly { chain: ChainPort; rpc: Rpc; wallets: SettlementWallets }[]
  settleMs: number
  screening?: Screening
  /** False: nothing new is sold; what was sold is claimed and refunded all the same. */
  selling: boolean
}

/** Payment channels (`batch-settlement`): one deposit, a voucher for each call, one claim for many. */
export function createChannels(options: ChannelsOptions) {
  const { database, clock, policy } = options
  const chains = new Map(
    options.chains.map((one): [string, ChannelChain] => [
      one.chain.network.caip2,
      { ...one, hashes: createChannelHashes(one.chain.network.chainId, keccak256), seen: { block: 0n } },
    ]),
  )
  const shared: ChannelDeps = { ...options, chains, cache: createChannelCache(database, clock) }
  const port = createVoucherPort(shared)
  const offering: ChannelOffering = {
    ...policy,
    authorizersOn: (network) => (options.selling ? (chains.get(network)?.wallets.addresses ?? []) : []),
  }
  const deps: PassDeps = {
    ...shared,
    queue: createChannelQueue(clock),
    unclaimed: createUnclaimed(database, clock, policy.unclaimedMicro),
    ...{ delivered: port.delivered, offering, port },
  }
  const job = (name: string, intervalMs: number, work: () => Promise<unknown>) => ({ name, intervalMs, work })
  const scheme: EntitledScheme = {
    name: channelScheme,
    supports: (network) => chains.has(network),
    isOffered: (route, { network, amountMicro }) =>
      offering.authorizersOn(network.caip2).length > 0 && sellsByChannel(route, amountMicro),
    requirements: (terms) => channelRequirements(offering, terms),
    pass: (call, envelope, sales) => passChannel(deps, call, envelope, sales),
  }
  return {
    entitledSchemes: [scheme],
    jobs: [
      {
        ...job('channels.recover', 5_000, async () => {
          await onEachChain(deps, (network, on) => recoverDeposits(deps, network, on))
          await onEachChain(deps, (network, on) => recoverRefunds(deps, network, on))
        }),
        due: `exists (select from channel_deposit where state = 'sending') or exists (select from channel where state = 'refunding')`,
      },
      job('channels.claim', 30_000, async () => {
        // What is due is claimed also where new withdrawals cannot be read.
        const watched = onEachChain(deps, (network, on) => watchWithdrawals(deps, network, on))
        await watched.catch(() => {})
        await onEachChain(deps, (network) => claimVouchers(deps, network))
        await watched
      }),
      // Kept as long as answers are, see `partitioned_table`.
      job('channels.expire', 3_600_000, () => deleteSales(database, clock.nowMs() - defaultAnswerDays * 86_400_000)),
    ],
    beforeReconcile: () => onEachChain(deps, (network, on) => postClaims(deps, network, on)),
    inboundAccount: (row: TransferRow) => settledAccount(deps, row),
    afterReconcile: (payTo: (network: string) => readonly Address[]) => compareClaimed(deps, payTo),
    idle: () => port.idle(),
  }
}
