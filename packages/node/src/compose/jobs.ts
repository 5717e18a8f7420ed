import {
  carryOutRefunds,
  creditUndelivered,
  defaultGateLimits,
  forgetIdle,
  type PaidRoute,
  type ReconciledAddress,
  type RecoverDeps,
  reconcileBooks,
  recoverPayments,
  repairInFlightCounts,
  watchFinality,
} from '@assay/till'
import { forgetHolders } from '@assay/till/facilitators'
import { createScheduler, withLease } from '@assay/till/jobs'
import { sealBooks } from '@assay/till/ledger'
import { type PayoutDeps, runPayouts, watchPayouts } from '@assay/till/payouts'
import { detectRestore } from '@assay/till/store/detect-restore'
import { purgeNonces } from '@assay/till/store/nonce-claims'
import type { Shop } from '../http/index.ts'
import type { Ground, Interceptors, Ports, Stops } from './ground.ts'
import { payoutHooks } from './payouts.ts'
import type { Till } from './till.ts'

/** Work that goes on by itself. Each job runs in one process at a time, no matter who holds its lease. */
export async function startJobs(
  ports: Ports,
  ground: Ground,
  till: Till,
  options: {
    shops: readonly Shop[]
    routeOf(routeId: string): PaidRoute | undefined
    recoverLanes?(): Promise<void>
    payouts: PayoutDeps
    intercept?: Interceptors['job']
  },
  stops: Stops,
): Promise<void> {
  const { clock, log, metrics, ids } = ports
  const { chains } = ground
  const { database } = ground.store
  const recovery: RecoverDeps = {
    database,
    chains,
    schemes: till.schemes,
    clock,
    log,
    metrics,
    owner: till.owner,
    finishSales: till.finishSales,
    inclusionMicroMax: defaultGateLimits.inclusionMicroMax,
    routeOf: options.routeOf,
    isOurs: till.ownAddresses.isOurs,
    exposure: till.exposure,
    ...(till.facilitator.settlementFee === undefined ? {} : { settlementFee: till.facilitator.settlementFee }),
  }
  const targets = till.ownAddresses.all().flatMap(({ network, payee, address, exclusive }): ReconciledAddress[] => {
    const chain = chains.get(network)
    return chain ? [{ chain, payee, address, exclusive }] : []
  })
  const scheduler = createScheduler({ clock, log, rng: ports.rng })
  // Shops are told to stop while their jobs may still be running: long work ends at the next opportunity.
  stops.push(async () => {
    await Promise.all([scheduler.stop(), ...options.shops.map((shop) => shop.stop?.())])
  })
  const every = (name: string, intervalMs: number, work: () => Promise<unknown>) => {
    const round = async () => {
      await withLease({ database, clock, rng: ports.rng, log }, name, Math.max(30_000, intervalMs * 2), work)
    }
    return scheduler.every(name, intervalMs, options.intercept?.(name, round) ?? round)
  }
  const reversalHooks = options.shops.flatMap((shop) => shop.reversalHooks ?? [])
  // What a crash left behind is taken up before anything new is sold.
  await recoverPayments(recovery)
  every('payments.recover', 2_000, () => recoverPayments(recovery))
  every('payments.finality', 5_000, () => watchFinality({ ...recovery, reversalHooks }))
  every('payments.flights', 60_000, () => repairInFlightCounts(recovery))
  every('payouts.run', 5_000, () => runPayouts(options.payouts))
  every('payments.refunds', 2_000, () =>
    carryOutRefunds({ database, clock, ids, log, routeOf: options.routeOf, reversalHooks }),
  )
  every('payments.undelivered', 600_000, () =>
    creditUndelivered({ database, clock, log, metrics, routeOf: options.routeOf, reversalHooks }),
  )
  every('payments.reconcile', 60_000, async () => {
    // A transfer that left and is not in the books yet would look like a difference.
    for (const chain of chains.values()) await watchPayouts(options.payouts, chain)
    for (const shop of options.shops) await shop.beforeReconcile?.()
    const hooks = payoutHooks(options.payouts, options.shops)
    const { schemes, screening } = till
    await reconcileBooks({ database, clock, ids, log, metrics, schemes, screening, ...hooks }, targets)
  })
  // A standby may be promoted, or an older copy started, under a running node.
  every('store.restored', 10_000, () => detectRestore(ground.restoreDetection))
  every('ledger.seal', 10_000, () => sealBooks(database))
  every('payments.forget', 3_600_000, () => forgetIdle(database, clock.nowMs()))
  every('facilitators.forget', 3_600_000, () => forgetHolders(database, clock.nowMs()))
  every('nonces.purge', 300_000, () => purgeNonces(database, clock.nowMs()))
  // A dead process may be noticed a moment after its payments were: its wallets are looked at again.
  if (options.recoverLanes) every('wallets.recover', 10_000, options.recoverLanes)
  for (const job of options.shops.flatMap((shop) => shop.jobs ?? [])) every(job.name, job.intervalMs, () => job.work())
}
