import type { Payees, ReconcileDeps } from '@assay/till'
import type { SettlementWallets } from '@assay/till/chain/wallet'
import type { TransferRow } from '@assay/till/ledger'
import {
  createCustodyKey,
  creditRefundPurpose,
  explainPayout,
  noteDifference,
  type PayoutChain,
  type PayoutDeps,
  payToRefundPurpose,
} from '@assay/till/payouts'
import { gapUntil, markReconciled, noteRestore } from '@assay/till/store/restore'
import type { Config } from '../config/load-config.ts'
import type { Shop } from '../http/index.ts'
import type { Ground, Ports, Stops } from './ground.ts'
import { openSettlementWallets } from './settlement-wallets.ts'
import type { Till } from './till.ts'

/** What the till itself owes; shops bring their own purposes. */
const ownPurposes = [
  { purpose: 'refund', minimumMicro: 1n },
  { purpose: creditRefundPurpose, minimumMicro: 1n },
  { purpose: payToRefundPurpose, minimumMicro: 1n },
]

/**
 * Paying others: authorizations of the custody wallet, carried to the chain by the settlement wallets. A chain whose
 * custody key is not configured accrues and pays nothing.
 */
export function openPayouts(
  config: Config,
  ports: Ports,
  ground: Ground,
  till: Pick<Till, 'owner' | 'pauses' | 'screening'>,
  payees: Payees,
  shops: readonly Pick<Shop, 'payoutPurposes'>[],
  localWallets: readonly SettlementWallets[] | undefined,
  stops: Stops,
): PayoutDeps {
  const keys = config.custodyKeys.map(createCustodyKey)
  const chains = ground.networks.map((network): PayoutChain => {
    const chain = ground.chains.get(network.caip2)
    const rpc = ground.rpcs.get(network.caip2)
    if (!chain || !rpc) throw new Error(`${network.caip2} is not open`)
    const key = keys.find(({ address }) => address === payees.custody[network.caip2])
    // Where somebody else settles for us, our own wallets still carry the payouts, if there are any.
    const wallets =
      localWallets?.find((one) => one.network === network.caip2) ??
      (config.settlerKeys.length === 0
        ? undefined
        : openSettlementWallets(config, ports, ground, network.caip2, till.owner, stops))
    return { chain, rpc, ...(key === undefined ? {} : { key }), ...(wallets === undefined ? {} : { wallets }) }
  })
  return {
    database: ground.store.database,
    clock: ports.clock,
    ids: ports.ids,
    log: ports.log,
    metrics: ports.metrics,
    policy: config.payouts,
    chains,
    purposes: [...ownPurposes, ...shops.flatMap((shop) => shop.payoutPurposes ?? [])],
    screening: till.screening,
    isPaused: async () => (await till.pauses.read()).get('payouts').paused,
  }
}

/** What reconciliation asks and tells: who sent money out of custody, what a restore may have lost, what is missing. */
export function payoutHooks(
  payouts: PayoutDeps,
  shops: readonly Shop[],
): Pick<ReconcileDeps, 'booksOutbound' | 'onMissing' | 'gapUntil' | 'onCompared'> {
  const { database, chains } = payouts
  const ofPayouts = async (row: TransferRow) => {
    const chain = chains.find((one) => one.chain.network.caip2 === row.network)?.chain
    return chain !== undefined && (await explainPayout(payouts, chain, row)) === 'booked'
  }
  return {
    booksOutbound: [ofPayouts, ...shops.flatMap(({ booksOutbound }) => booksOutbound ?? [])],
    onMissing: async ({ network, paymentKey: nonce, blockNumber }) => {
      if (nonce === undefined) return
      const reason = `the custody nonce ${nonce} was used and is not known`
      await noteRestore(database, payouts, { network, untilBlock: blockNumber, reason })
    },
    gapUntil: (network) => gapUntil(database, network),
    onCompared: async ({ network, payee, upToBlock, differenceMicro }) => {
      if (payee !== 'custody') return
      const money = await noteDifference(database, { network, block: upToBlock, differenceMicro })
      if (money === 'stopped') {
        payouts.metrics.count('alarms', { alarm: 'payouts_stopped' })
        payouts.log.error({ network }, 'the custody wallet holds less than the books say; payouts are stopped')
      }
      // Every address of the chain is recorded up to this block before the first comparison.
      if (await markReconciled(database, network, upToBlock))
        payouts.log.info({ network, block: upToBlock.toString() }, 'the gap of a restore is reconciled')
    },
  }
}
