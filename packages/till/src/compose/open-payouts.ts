import { chainOfAsset } from '@assay/protocol/asset'
import type { KeySource } from '../chain/wallet/index.ts'
import type { Payees } from '../contract/terms.ts'
import type { TransferRow } from '../ledger/index.ts'
import {
  createCustodyKey,
  creditRefundPurpose,
  explainPayout,
  type PayoutChain,
  type PayoutDeps,
  type PayoutPolicy,
  payToRefundPurpose,
  recordDifference,
  type WithdrawPolicy,
  withdrawalPurpose,
} from '../payouts/index.ts'
import type { ReconcileDeps } from '../recovery/reconcile.ts'
import { gapUntil, lapseGaps, markReconciled, recordRestore } from '../store/restore.ts'
import type { Composition, Infrastructure } from './open-infrastructure.ts'
import type { OpenedSettlement } from './open-settlement.ts'
import type { SalePart } from './parts.ts'
import { openSettlementWallets } from './settlement-wallets.ts'

export type PayoutSettings = {
  payees: Payees
  /** Keys of the custody wallets, which pay others. On a chain without one nothing is paid out. */
  custodyKeys: readonly KeySource[]
  settlerKeys: readonly KeySource[]
  payouts: PayoutPolicy
  /** Absent: the operator's money stays in custody. */
  withdrawals?: WithdrawPolicy
}

/** What the till itself owes; its parts bring their own purposes. */
const ownPurposes = [
  { purpose: 'refund', minimumMicro: 1n },
  { purpose: creditRefundPurpose, minimumMicro: 1n },
  { purpose: payToRefundPurpose, minimumMicro: 1n },
  { purpose: withdrawalPurpose, minimumMicro: 1n },
]

/** How money leaves custody, for any purpose. */
export type Custody = Omit<PayoutDeps, 'purposes' | 'committedMicro'>

/**
 * Authorizations of the custody wallet, submitted to the chain by the settlement wallets. A chain whose custody key is not
 * configured accrues and pays nothing.
 */
export function openCustody(
  settings: PayoutSettings,
  composition: Composition,
  { owner, pauses, screening, local }: OpenedSettlement,
): Custody {
  const { ports, infrastructure } = composition
  const keys = settings.custodyKeys.map(createCustodyKey)
  const chains = infrastructure.networks.map((network): PayoutChain => {
    const chain = infrastructure.chains.get(network.caip2)
    const rpc = infrastructure.rpcs.get(network.caip2)
    if (!chain || !rpc) throw new Error(`${network.caip2} is not open`)
    const key = keys.find(({ address }) => address === settings.payees.custody[network.caip2])
    // Where somebody else settles for us, our own wallets still submit the payouts, if there are any.
    const wallets =
      local?.senders.find((one) => one.network === network.caip2) ??
      (settings.settlerKeys.length === 0
        ? undefined
        : openSettlementWallets(settings.settlerKeys, composition, network.caip2, owner))
    return { chain, rpc, ...(key === undefined ? {} : { key }), ...(wallets === undefined ? {} : { wallets }) }
  })
  const all = [...chains, ...furtherDollars(infrastructure, chains)]
  return {
    database: infrastructure.store.database,
    clock: ports.clock,
    ids: ports.ids,
    log: ports.log,
    metrics: ports.metrics,
    policy: settings.payouts,
    chains: all,
    screening,
    ...(settings.withdrawals === undefined ? {} : { withdrawals: settings.withdrawals }),
    isPaused: async () => (await pauses.read()).get('payouts').paused,
  }
}

/** Paying what the till and its parts owe. */
export const openPayouts = (
  custody: Custody,
  parts: readonly Pick<SalePart, 'payoutPurposes' | 'committedMicro'>[],
): PayoutDeps => ({
  ...custody,
  purposes: [...ownPurposes, ...parts.flatMap((part) => part.payoutPurposes ?? [])],
  committedMicro: async (network) => {
    let micro = 0n
    for (const part of parts) micro += (await part.committedMicro?.(network)) ?? 0n
    return micro
  },
})

/** Paid by the same wallets. What has no EIP-3009 cannot be: it accrues, and a person pays it by hand. */
const furtherDollars = ({ assets, chains }: Infrastructure, payoutChains: readonly PayoutChain[]): PayoutChain[] =>
  assets.flatMap(({ caip2, usdc }) => {
    const chain = chains.get(caip2)
    const payoutChain = payoutChains.find((one) => one.chain.network.caip2 === chainOfAsset(caip2))
    if (!chain || !payoutChain || payoutChain.chain === chain) return []
    const { key: _key, ...withoutKey } = { ...payoutChain, chain }
    return [usdc.eip3009 === false ? withoutKey : { ...payoutChain, chain }]
  })

/** What reconciliation asks and tells: who sent money out of custody, what a restore may have lost, what is missing. */
export function payoutHooks(
  payouts: PayoutDeps,
  parts: readonly SalePart[],
): Pick<ReconcileDeps, 'explainsOutbound' | 'inboundAccounts' | 'onMissing' | 'gapUntil' | 'onCompared'> {
  const { database, chains } = payouts
  const ofPayouts = async (row: TransferRow) => {
    const chain = chains.find((one) => one.chain.network.caip2 === row.network)?.chain
    return chain !== undefined && (await explainPayout(payouts, chain, row)) === 'posted'
  }
  return {
    explainsOutbound: [ofPayouts, ...parts.flatMap(({ explainsOutbound }) => explainsOutbound ?? [])],
    inboundAccounts: parts.flatMap(({ inboundAccount }) => inboundAccount ?? []),
    onMissing: async ({ network, paymentKey: nonce, blockNumber }) => {
      if (nonce === undefined) return
      const reason = `the custody nonce ${nonce} was used and is not known`
      await recordRestore(database, payouts, { network, untilBlock: blockNumber, reason })
    },
    gapUntil: (network) => gapUntil(database, network),
    onCompared: async ({ network, payee, upToBlock, upToTime, differenceMicro }) => {
      if (payee !== 'custody') return
      const money = await recordDifference(database, { network, block: upToBlock, differenceMicro })
      if (money === 'stopped') {
        payouts.metrics.count('alarms', { alarm: 'payouts_stopped' })
        payouts.log.error({ network }, 'the custody wallet holds less than the books say; payouts are stopped')
      }
      // Every address of the chain is recorded up to this block before the first comparison.
      if (await markReconciled(database, network, upToBlock))
        payouts.log.info({ network, block: upToBlock.toString() }, 'the gap of a restore is reconciled')
      await lapseGaps(database, network, { number: upToBlock, timestamp: upToTime })
    },
  }
}
