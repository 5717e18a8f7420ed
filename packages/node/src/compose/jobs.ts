import { createScheduler, withLease } from '../jobs/index.ts'
import { sealBooks } from '../ledger/index.ts'
import {
  type PaidRoute,
  payeeAddress,
  type RecoverDeps,
  type ReversalHook,
  reconcileBooks,
  recoverPayments,
  repairFlights,
  watchFinality,
} from '../payments/index.ts'
import { purgeNonces } from '../store/nonce-claims.ts'
import type { Ground, Ports, Stops } from './ground.ts'
import type { Till } from './till.ts'

/** Work that goes on by itself. Each job runs in one process at a time, whoever holds its lease. */
export async function startJobs(
  ports: Ports,
  ground: Ground,
  till: Till,
  options: {
    inclusionMicroMax: bigint
    routeOf(routeId: string): PaidRoute | undefined
    reversalHooks: readonly ReversalHook[]
  },
  stops: Stops,
): Promise<void> {
  const { clock, log, metrics, ids } = ports
  const { chains } = ground
  const { database } = ground.store
  const recovery: RecoverDeps = {
    database,
    chains,
    clock,
    log,
    metrics,
    owner: till.owner,
    finishSales: till.finishSales,
    inclusionMicroMax: options.inclusionMicroMax,
    routeOf: options.routeOf,
  }
  const targets = [...chains.values()].flatMap((chain) =>
    (['pay_to', 'custody'] as const).map((payee) => ({
      chain,
      payee,
      address: payeeAddress(till.payees, payee, chain.network.caip2),
    })),
  )
  const scheduler = createScheduler({ clock, log, rng: ports.rng })
  stops.push(() => scheduler.stop())
  const every = (name: string, intervalMs: number, work: () => Promise<unknown>) =>
    scheduler.every(name, intervalMs, async () => {
      await withLease({ database, clock, rng: ports.rng, log }, name, Math.max(30_000, intervalMs * 2), work)
    })
  // What a crash left behind is taken up before anything new is sold.
  await recoverPayments(recovery)
  every('payments.recover', 2_000, () => recoverPayments(recovery))
  every('payments.finality', 5_000, () => watchFinality({ ...recovery, reversalHooks: options.reversalHooks }))
  every('payments.flights', 60_000, () => repairFlights(recovery))
  every('payments.reconcile', 60_000, () => reconcileBooks({ database, clock, ids, log, metrics }, targets))
  every('ledger.seal', 10_000, () => sealBooks(database))
  every('nonces.purge', 300_000, () => purgeNonces(database, clock.nowMs()))
}
