import type { ChainPort } from '../chain/index.ts'
import { unfinishedSql } from '../chain/wallet/index.ts'
import type { PaidRoute } from '../contract/paid-call.ts'
import { deleteBudgets, deleteHolders } from '../facilitators/index.ts'
import type { Owner } from '../gate/owner.ts'
import { createDueWatch, createLeases, createScheduler, handOver, type Job, type Leases } from '../jobs/index.ts'
import { balancesDueSql, checkBalances, sealBooks } from '../ledger/index.ts'
import {
  type PayoutDeps,
  payoutsDueSql,
  postGas,
  runPayouts,
  runWithdrawals,
  watchPayouts,
  withdrawalsDueSql,
} from '../payouts/index.ts'
import { creditUndelivered } from '../recovery/credit-undelivered.ts'
import { type ReconciledAddress, reconcileBooks } from '../recovery/reconcile.ts'
import { type RecoverDeps, recoverPayments, repairInFlightCounts } from '../recovery/recover.ts'
import { removeIdle } from '../recovery/remove-idle.ts'
import { notFinalSql, recoveryDueSql } from '../recovery/store-recover.ts'
import { watchFinality } from '../recovery/watch-finality.ts'
import { executeRefunds } from '../refunds/refund-payment.ts'
import { detectRestore } from '../store/detect-restore.ts'
import { purgeNonces } from '../store/nonce-claims.ts'
import { type Retention, rotatePartitions } from '../store/partitions.ts'
import type { OpenedGate } from './open-gate.ts'
import type { Infrastructure } from './open-infrastructure.ts'
import { payoutHooks } from './open-payouts.ts'
import type { Interceptors, Ports, Stops, TillJob } from './parts.ts'

export type JobSettings = {
  routeOf(routeId: string): PaidRoute | undefined
  /** See RecoverDeps. */
  routePatienceMs?: number
  /** Recovery runs at least this often; see `idleMs` of a job. */
  recoverIdleMs?: number
  payouts: PayoutDeps
  retention?: Retention
}

/** All work that goes on by itself, in the order in which one round runs it. */
export function tillJobs(
  ports: Ports,
  infrastructure: Infrastructure,
  till: OpenedGate,
  settings: JobSettings,
): TillJob[] {
  const { clock, log, metrics, ids } = ports
  const { chains } = infrastructure
  const { database } = infrastructure.store
  const { routeOf, routePatienceMs = 0, payouts, retention = {} } = settings
  const { parts } = till
  const recovery = recoverDeps(ports, infrastructure, till, settings)
  const reversalHooks = parts.flatMap((part) => part.reversalHooks ?? [])
  const isUnpayable = (network: string) => chains.get(network)?.network.usdc.eip3009 === false
  const job = (name: string, intervalMs: number, work: () => Promise<unknown>, due?: string): TillJob => ({
    ...{ name, intervalMs, work },
    ...(due === undefined ? {} : { due }),
  })
  return [
    {
      ...job(
        'payments.recover',
        2_000,
        withRoutes(routeOf, (known) => recoverPayments({ ...recovery, ...known })),
        recoveryDueSql(till.owner.id),
      ),
      ...(settings.recoverIdleMs === undefined ? {} : { idleMs: settings.recoverIdleMs }),
    },
    job(
      'payments.finality',
      5_000,
      withRoutes(routeOf, (known) => watchFinality({ ...recovery, ...known, reversalHooks })),
      notFinalSql,
    ),
    job('payments.flights', 60_000, () => repairInFlightCounts(recovery)),
    job('payouts.run', 5_000, () => runPayouts(payouts), payoutsDueSql),
    job('payouts.withdraw', 5_000, () => runWithdrawals(payouts), withdrawalsDueSql(payouts)),
    job('wallets.gas', 60_000, async () => {
      // Gas is of the chain, whatever it moved.
      for (const { caip2 } of infrastructure.networks) await postGas(payouts, chains.get(caip2) as ChainPort)
    }),
    job(
      'payments.refunds',
      2_000,
      withRoutes(routeOf, (known) =>
        executeRefunds({ database, clock, ids, log, metrics, ...known, routePatienceMs, reversalHooks, isUnpayable }),
      ),
      `exists (select from refund where state = 'asked')`,
    ),
    job('payments.undelivered', 600_000, () => creditUndelivered({ database, clock, log, metrics, reversalHooks })),
    job('payments.reconcile', 60_000, () => reconcile(ports, infrastructure, till, payouts)),
    // A standby may be promoted, or an older copy started, under a running node.
    job('store.restored', 10_000, () => detectRestore(infrastructure.restoreDetection)),
    job('ledger.seal', 10_000, () => sealBooks(database), 'exists (select from ledger_unsealed)'),
    job('ledger.balances', 10_000, () => checkBalances(database, clock.nowMs()), balancesDueSql),
    job('store.remove_idle', 3_600_000, () => removeIdle(database, clock.nowMs())),
    job('store.partitions', 3_600_000, () =>
      rotatePartitions({ sql: database, log, metrics }, retention, clock.nowMs()),
    ),
    job('facilitators.expire', 3_600_000, async () => {
      await deleteHolders(database, clock.nowMs())
      await deleteBudgets(database, clock.nowMs())
    }),
    job('nonces.purge', 300_000, () => purgeNonces(database, clock.nowMs())),
    // A dead process may be noticed a moment after its payments were: its wallets are looked at again.
    ...(till.local ? [job('wallets.recover', 10_000, till.local.recoverWallets, unfinishedSql)] : []),
    ...parts.flatMap((part) => part.jobs ?? []),
  ]
}

/**
 * Sellers on one database may declare different routes: one that meets a route of another cannot finish its sale, and
 * hands the job over.
 */
const withRoutes =
  (routeOf: JobSettings['routeOf'], work: (known: Pick<JobSettings, 'routeOf'>) => Promise<unknown>) => async () => {
    let metUnknown = false
    await work({
      routeOf: (id) => {
        const route = routeOf(id)
        if (route === undefined) metUnknown = true
        return route
      },
    })
    return metUnknown ? handOver : undefined
  }

async function reconcile(
  ports: Ports,
  { chains, store }: Infrastructure,
  { parts, schemes, screening, ownAddresses }: OpenedGate,
  payouts: PayoutDeps,
): Promise<void> {
  const targets = ownAddresses.all().flatMap(({ network, payee, address, exclusive }): ReconciledAddress[] => {
    const chain = chains.get(network)
    return chain ? [{ chain, payee, address, exclusive }] : []
  })
  // A transfer that left and is not in the books yet would look like a difference.
  for (const chain of chains.values()) await watchPayouts(payouts, chain)
  for (const part of parts) await part.beforeReconcile?.()
  await reconcileBooks(
    { ...ports, database: store.database, schemes, screening, ...payoutHooks(payouts, parts) },
    targets,
  )
  const payTo = (network: string) =>
    targets.flatMap(({ chain, payee, address }) =>
      payee === 'pay_to' && chain.network.caip2 === network ? [address] : [],
    )
  for (const part of parts) await part.afterReconcile?.(payTo)
}

/** What a crash left behind is resumed before anything new is sold. */
export function recoverAtStart(
  ports: Ports,
  infrastructure: Infrastructure,
  till: OpenedGate,
  settings: JobSettings,
): Promise<unknown> {
  return recoverPayments(recoverDeps(ports, infrastructure, till, settings))
}

function recoverDeps(
  { clock, log, metrics }: Ports,
  infrastructure: Infrastructure,
  till: OpenedGate,
  { routeOf, routePatienceMs = 0 }: Pick<JobSettings, 'routeOf' | 'routePatienceMs'>,
): RecoverDeps {
  const { settlementFee } = till.facilitator
  return {
    ...{
      database: infrastructure.store.database,
      chains: infrastructure.chains,
      schemes: till.schemes,
      clock,
      log,
      metrics,
      routeOf,
    },
    routePatienceMs,
    owner: till.owner,
    finishSales: till.finishSales,
    inclusionMicroMax: till.limits.inclusionMicroMax,
    isOurs: till.ownAddresses.isOurs,
    exposure: till.exposure,
    ...(settlementFee === undefined ? {} : { settlementFee }),
  }
}

type RoundDeps = {
  ports: Ports
  infrastructure: Infrastructure
  owner: Owner
  intercept?: Interceptors['job']
  /** Jobs run at every interval, also those that are known to have nothing to do: for callers that run them by hand. */
  everyRound?: boolean
}

function leasesOf({ ports: { clock, log }, infrastructure, owner }: RoundDeps): Leases {
  const { database } = infrastructure.store
  // Behind a transaction pooler a process is known to live by its requests, and jobs may run without any.
  return createLeases({ database, clock, log, ...(database.pooled ? {} : { owner: owner.id }) })
}

/** Each job runs in one process at a time, the one that holds its lease. */
function roundOf({ intercept }: RoundDeps, leases: Leases, { name, intervalMs, work }: TillJob): () => Promise<void> {
  const round = () => leases.run(name, intervalMs, work)
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
  const leases = leasesOf(deps)
  stops.push(async () => {
    await Promise.all([scheduler.stop(), stopParts()])
    await leases.release()
  })
  const watched = deps.everyRound ? [] : jobs.flatMap(({ name, due }) => (due === undefined ? [] : [{ name, due }]))
  const { database } = deps.infrastructure.store
  const watch = createDueWatch({ database, clock, log }, watched)
  const started = new Map<string, Job>()
  const runNow = (name: string) => void started.get(name)?.runNow()
  for (const job of jobs) {
    const { name, intervalMs, idleMs = idleMsDefault, channel } = job
    const round = roundOf(deps, leases, job)
    const isWatched = watched.some((other) => other.name === name)
    const pauseMs = () => (watch.isDue(name) ? intervalMs : Math.max(intervalMs, idleMs))
    started.set(
      name,
      isWatched
        ? scheduler.every(name, pauseMs, () => watch.run(name, round))
        : scheduler.every(name, intervalMs, round),
    )
    const wake = () => runNow(name)
    if (channel !== undefined)
      database.listen(channel, wake, wake).catch((error: unknown) => {
        log.warn({ job: name, error: String(error) }, 'a job cannot be notified; it runs by its interval')
      })
  }
  if (watched.length > 0) scheduler.every('jobs.due', dueEveryMs, () => watch.poll(runNow))
}

/** Work that appears waits this long at most for a job that has nothing else to do. */
const dueEveryMs = 1_000
/** A round without known work, in case an expression misses some. */
const idleMsDefault = 30_000

/** One round of every job, for those who are woken from outside. A job that fails does not keep the next from running. */
export async function runJobs(deps: RoundDeps, jobs: readonly TillJob[]): Promise<{ failed: string[] }> {
  const failed: string[] = []
  const leases = leasesOf(deps)
  for (const job of jobs)
    try {
      await roundOf(deps, leases, job)()
    } catch (error) {
      failed.push(job.name)
      deps.ports.log.error({ job: job.name, error: String(error) }, 'a job failed')
    }
  await leases.release()
  return { failed }
}
