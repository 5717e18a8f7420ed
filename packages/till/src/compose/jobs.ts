import type { PaidRoute } from '../contract/paid-call.ts'
import { forgetHolders } from '../facilitators/index.ts'
import { createScheduler, withLease } from '../jobs/index.ts'
import { sealBooks } from '../ledger/index.ts'
import { bookGas, type PayoutDeps, runPayouts, runWithdrawals, watchPayouts } from '../payouts/index.ts'
import { creditUndelivered } from '../recovery/credit-undelivered.ts'
import { forgetIdle } from '../recovery/forget-idle.ts'
import { type ReconciledAddress, reconcileBooks } from '../recovery/reconcile.ts'
import { type RecoverDeps, recoverPayments, repairInFlightCounts } from '../recovery/recover.ts'
import { carryOutRefunds } from '../recovery/refund-payment.ts'
import { watchFinality } from '../recovery/watch-finality.ts'
import { detectRestore } from '../store/detect-restore.ts'
import { purgeNonces } from '../store/nonce-claims.ts'
import { keepPartitions, type Retention } from '../store/partitions.ts'
import type { OpenedGate } from './open-gate.ts'
import type { Ground } from './open-ground.ts'
import { payoutHooks } from './open-payouts.ts'
import type { Interceptors, Ports, SalePart, Stops, TillJob } from './parts.ts'

export type JobSettings = {
  parts: readonly SalePart[]
  routeOf(routeId: string): PaidRoute | undefined
  /** See RecoverDeps. */
  routePatienceMs?: number
  recoverLanes?(): Promise<void>
  payouts: PayoutDeps
  retention?: Retention
}

/** All work that goes on by itself, in the order in which one round runs it. */
export function tillJobs(ports: Ports, ground: Ground, till: OpenedGate, settings: JobSettings): TillJob[] {
  const { clock, log, metrics, ids } = ports
  const { chains } = ground
  const { database } = ground.store
  const { routeOf, payouts, parts, retention = {} } = settings
  const recovery = recoverDeps(ports, ground, till, settings)
  const targets = till.ownAddresses.all().flatMap(({ network, payee, address, exclusive }): ReconciledAddress[] => {
    const chain = chains.get(network)
    return chain ? [{ chain, payee, address, exclusive }] : []
  })
  const reversalHooks = parts.flatMap((part) => part.reversalHooks ?? [])
  const reconcile = async () => {
    // A transfer that left and is not in the books yet would look like a difference.
    for (const chain of chains.values()) await watchPayouts(payouts, chain)
    for (const part of parts) await part.beforeReconcile?.()
    const { schemes, screening, channels } = till
    await channels?.bookClaims()
    const hooks = {
      ...payoutHooks(payouts, parts),
      ...(channels ? { inboundAccount: channels.settledAccount } : {}),
    }
    await reconcileBooks({ database, clock, ids, log, metrics, schemes, screening, ...hooks }, targets)
    await channels?.compareClaimed((network) =>
      targets.flatMap(({ chain, payee, address }) =>
        payee === 'pay_to' && chain.network.caip2 === network ? [address] : [],
      ),
    )
  }
  const job = (name: string, intervalMs: number, work: () => Promise<unknown>): TillJob => ({ name, intervalMs, work })
  return [
    job('payments.recover', 2_000, () => recoverPayments(recovery)),
    job('payments.finality', 5_000, () => watchFinality({ ...recovery, reversalHooks })),
    job('payments.flights', 60_000, () => repairInFlightCounts(recovery)),
    job('payouts.run', 5_000, () => runPayouts(payouts)),
    job('payouts.withdraw', 5_000, () => runWithdrawals(payouts)),
    job('wallets.gas', 60_000, async () => {
      for (const chain of chains.values()) await bookGas(payouts, chain)
    }),
    job('payments.refunds', 2_000, () => carryOutRefunds({ database, clock, ids, log, routeOf, reversalHooks })),
    job('payments.undelivered', 600_000, () =>
      creditUndelivered({ database, clock, log, metrics, routeOf, reversalHooks }),
    ),
    job('payments.reconcile', 60_000, reconcile),
    // A standby may be promoted, or an older copy started, under a running node.
    job('store.restored', 10_000, () => detectRestore(ground.restoreDetection)),
    job('ledger.seal', 10_000, () => sealBooks(database)),
    job('payments.forget', 3_600_000, () => forgetIdle(database, clock.nowMs())),
    job('store.partitions', 3_600_000, () => keepPartitions({ sql: database, log, metrics }, retention, clock.nowMs())),
    job('facilitators.forget', 3_600_000, () => forgetHolders(database, clock.nowMs())),
    job('nonces.purge', 300_000, () => purgeNonces(database, clock.nowMs())),
    // A dead process may be noticed a moment after its payments were: its wallets are looked at again.
    ...(settings.recoverLanes ? [job('wallets.recover', 10_000, settings.recoverLanes)] : []),
    ...(till.channels?.jobs() ?? []),
    ...parts.flatMap((part) => part.jobs ?? []),
  ]
}

/** What a crash left behind is taken up before anything new is sold. */
export function recoverAtStart(
  ports: Ports,
  ground: Ground,
  till: OpenedGate,
  settings: JobSettings,
): Promise<unknown> {
  return recoverPayments(recoverDeps(ports, ground, till, settings))
}

function recoverDeps(
  { clock, log, metrics }: Ports,
  ground: Ground,
  till: OpenedGate,
  { routeOf, routePatienceMs = 0 }: Pick<JobSettings, 'routeOf' | 'routePatienceMs'>,
): RecoverDeps {
  const { settlementFee } = till.facilitator
  return {
    ...{ database: ground.store.database, chains: ground.chains, schemes: till.schemes, clock, log, metrics, routeOf },
    routePatienceMs,
    owner: till.owner,
    finishSales: till.finishSales,
    inclusionMicroMax: till.limits.inclusionMicroMax,
    isOurs: till.ownAddresses.isOurs,
    exposure: till.exposure,
    ...(settlementFee === undefined ? {} : { settlementFee }),
  }
}

type RoundDeps = { ports: Ports; ground: Ground; intercept?: Interceptors['job'] }

/** Each job runs in one process at a time, no matter who holds its lease. */
function roundOf({ ports, ground, intercept }: RoundDeps, { name, intervalMs, work }: TillJob): () => Promise<void> {
  const { clock, log, rng } = ports
  const round = async () => {
    const ttlMs = Math.max(30_000, intervalMs * 2)
    await withLease({ database: ground.store.database, clock, rng, log }, name, ttlMs, ({ signal }) => work(signal))
  }
  return intercept?.(name, round) ?? round
}

/** Runs the jobs by themselves until the till closes; `stopParts` is called while they may still be running. */
export function startJobs(
  deps: RoundDeps,
  jobs: readonly TillJob[],
  stops: Stops,
  stopParts: () => Promise<unknown> = async () => {},
): void {
  const { clock, log, rng } = deps.ports
  const scheduler = createScheduler({ clock, log, rng })
  stops.push(async () => {
    await Promise.all([scheduler.stop(), stopParts()])
  })
  for (const job of jobs) scheduler.every(job.name, job.intervalMs, roundOf(deps, job))
}

/** One round of every job, for those who are woken from outside. A job that fails does not keep the next from running. */
export async function runJobs(deps: RoundDeps, jobs: readonly TillJob[]): Promise<{ failed: string[] }> {
  const failed: string[] = []
  for (const job of jobs)
    try {
      await roundOf(deps, job)()
    } catch (error) {
      failed.push(job.name)
      deps.ports.log.error({ job: job.name, error: String(error) }, 'a job failed')
    }
  return { failed }
}
