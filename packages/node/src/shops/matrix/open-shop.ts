import type { TillJob } from '@assay/till/compose'
import { withLease } from '@assay/till/jobs'
import { createSince } from '../../http/index.ts'
import { notifications } from '../../notifications/index.ts'
import type { Outbound } from '../../outbound/index.ts'
import { coveredFeeds } from '../ports.ts'
import { declareShop, type OpenShop, type Shop, type ShopContext } from '../shop.ts'
import {
  openSubscriptionStreams,
  outageJob,
  parseSubscriptionPolicy,
  type SubscriptionPolicy,
  type SubscriptionStreams,
  subscriptionsMigrations,
  subscriptionsVariables,
} from '../subscriptions/index.ts'
import { alertJob, alertTopic } from './alerts/alert-job.ts'
import { createFileCache } from './as-of/file-cache.ts'
import { bulkRoutes } from './bulk/bulk-routes.ts'
import { recordBulkFiles } from './bulk/bulk-store.ts'
import { type DemoSize, evaluatedDemo, fullDemo, smallDemo } from './demo/plan.ts'
import { type DemoProgress, seedDemo } from './demo/seed-demo.ts'
import { feedIds } from './feeds/feed.ts'
import { coverageOf } from './ingest/coverage.ts'
import { fetchDue } from './ingest/fetch-due.ts'
import { fetchPlans } from './ingest/fetch-plan.ts'
import { createLastFetches } from './ingest/fetch-state.ts'
import { officialOutbound } from './ingest/official-outbound.ts'
import { createLicencePolicy } from './licences/licence-policy.ts'
import type { MatrixDeps } from './matrix-deps.ts'
import { qualityOf } from './quality/quality-document.ts'
import { keepQuality, qualityIsDue, readQuality } from './quality/quality-store.ts'
import { matrixRetention } from './retention.ts'
import { coveredFeed, indexRoute } from './routes/index-route.ts'
import { pullRoutes, vipRouteId } from './routes/pull-routes.ts'
import { qualityRoute } from './routes/quality-route.ts'
import { scanPrompt } from './scan-prompt.ts'
import { scoreDaysJob, scoredDaysMax } from './score-history/score-days.ts'
import { screenRoutes } from './screens/screen-routes.ts'
import { type MatrixSettings, matrixVariables, parseMatrixSettings } from './settings.ts'
import { createAnswerMemo } from './snapshots/answer-memo.ts'
import { allUnavailable, feedUnavailable, isOffered } from './snapshots/feed-availability.ts'
import { createRefreshRhythm } from './snapshots/refresh-rhythm.ts'
import { createSnapshotCache, isSnapshot } from './snapshots/snapshot-cache.ts'
import { createSymbolTable } from './store/symbol-table.ts'

export const matrixShop = declareShop({
  name: 'matrix',
  variables: { ...matrixVariables, ...subscriptionsVariables },
  migrations: [subscriptionsMigrations, new URL('./migrations/', import.meta.url)],
  topics: [alertTopic],
  retention: matrixRetention,
  configure: ({ SUBSCRIPTIONS, ...values }, { demo, contactEmail: contact }) =>
    openMatrixShop({
      settings: parseMatrixSettings(values, { demo }),
      subscriptions: parseSubscriptionPolicy(SUBSCRIPTIONS),
      outbound: (context) => officialOutbound({ ...context, contact }),
    }),
})

/** Area B: real short-selling data, point in time. */
export function openMatrixShop({
  settings,
  subscriptions,
  outbound,
}: {
  settings: MatrixSettings
  subscriptions: SubscriptionPolicy
  /** The way to the publishers. */
  outbound(context: ShopContext): Outbound
}): OpenShop {
  return (context) => {
    const streams = openSubscriptionStreams(context, {
      routeId: vipRouteId,
      connections: settings.connections,
      policy: subscriptions,
    })
    return openShop(context, settings, () => outbound(context), streams)
  }
}

async function openShop(
  context: ShopContext,
  settings: MatrixSettings,
  outbound: () => Outbound,
  streams: SubscriptionStreams,
): Promise<Shop> {
  const stopping = new AbortController()
  const deps = createDeps(context, settings, streams, stopping.signal)
  const progress: { now: DemoProgress } = { now: { state: 'idle', files: 0, of: 0, symbols: 0 } }
  const onProgress = (now: DemoProgress) => {
    progress.now = now
    context.metrics.gauge('matrix_demo_files', now.files)
  }
  const seeds = context.mode === 'demo' && settings.demo !== 'off'
  const made = new Set<string>()
  const wholeDemo = settings.demo === 'full' ? fullDemo : smallDemo
  const seed = (size: DemoSize, yieldsBetweenFiles: boolean) =>
    seedDemo(deps, size, { onProgress, yieldsBetweenFiles, stop: stopping.signal, made })
  // What an earlier start left is served as it is; anything newer is made once the node is up.
  await deps.snapshotCache.refresh({ staleSnapshots: true })
  await deps.looks.refresh()
  if (seeds && feedIds.some((id) => !isSnapshot(deps.snapshotCache.current(id, 'delayed')))) {
    await underLease(context, 'matrix.seed', () => seed(smallDemo, false))
    await deps.snapshotCache.refresh({ staleSnapshots: true })
  }
  const products = {
    unavailable: () => allUnavailable(deps),
    parts: () => ({
      down: feedIds.filter((feed) => isOffered(deps, feed) && feedUnavailable(deps, feed)).length,
      of: feedIds.filter((feed) => isOffered(deps, feed)).length,
    }),
    feeds: () => feedIds.map((feed) => coveredFeed(deps, feed)),
  }
  context.ports.offer(coveredFeeds, products)
  const loading = () => seeds && (progress.now.state !== 'done' || progress.now.symbols !== wholeDemo.symbols)
  const events = context.ports.find(notifications)
  const watching = watchFiles(context, deps, stopping.signal)
  return {
    prompts: [scanPrompt],
    routes: [
      indexRoute(deps, () => progress.now),
      ...pullRoutes(deps),
      qualityRoute(deps),
      ...screenRoutes(context),
      ...bulkRoutes(deps),
    ],
    jobs: [
      ...(seeds ? [demoJob(deps, (size) => seed(size, true), wholeDemo)] : []),
      outageJob(context, 'feeds', products.parts),
      qualityJob(deps, loading),
      bulkJob(deps, loading),
      scoreDaysJob(deps, { days: seeds ? demoScoredDays : scoredDaysMax, paused: loading }),
      ...(events ? [alertJob({ ...deps, events })] : []),
      ...(deps.plans.length > 0 ? [fetchJob(deps, outbound())] : []),
    ],
    readiness: [{ name: 'market data', check: async () => (seeds ? isSeeded(deps) : isComplete(deps)) }],
    demo: () => ({ matrix: { feeds: feedIds, loading: progress.now } }),
    stop: async () => {
      stopping.abort()
      await watching
      await streams.stop()
    },
  }
}

/** How old the files may be that are read from a replica. */
const rowsLagMsMax = 60_000

const isSeeded = ({ snapshotCache }: MatrixDeps) => isSnapshot(snapshotCache.current('squeeze', 'delayed'))

/** Everything that this node fetches has come, and came in time. */
const isComplete = (deps: MatrixDeps) =>
  coverageOf(deps, deps.looks.last()).every(({ fetched, last, stale }) => !fetched || (last !== null && !stale))

function createDeps(
  context: ShopContext,
  settings: MatrixSettings,
  streams: SubscriptionStreams,
  stopping: AbortSignal,
): MatrixDeps {
  const { database, clock, ids, log, jws, baseUrl } = context
  const fileCache = createFileCache({ replica: database.within?.(rowsLagMsMax), clock })
  const symbols = createSymbolTable()
  const licences = createLicencePolicy({ demo: context.mode === 'demo', assertions: settings.assertions })
  const { delayMs } = settings
  return {
    database,
    clock,
    ids,
    log,
    jws,
    baseUrl,
    fileCache,
    symbols,
    licences,
    delayMs,
    streams,
    stopping,
    plans: fetchPlans(settings),
    looks: createLastFetches(database),
    since: createSince(clock),
    snapshotCache: createSnapshotCache({ database, clock, log, fileCache, symbols, licences, delayMs }),
    memo: createAnswerMemo(),
    prices: { liveMicro: settings.liveMicro, vipMicro: settings.vipMicro },
    network: context.base.caip2,
  }
}

/** The first process seeds, the others wait for it: at `ready` every feed has something to show. */
async function underLease(context: ShopContext, name: string, work: () => Promise<void>): Promise<void> {
  while (!(await withLease(context, name, 30_000, work)).ran) await context.clock.sleep(200)
}

/** Each process keeps its own snapshots: notified by the database of new files, and polling as time makes old ones public. */
async function watchFiles(context: ShopContext, deps: MatrixDeps, stopping: AbortSignal): Promise<void> {
  const rhythm = createRefreshRhythm(context.clock)
  const unsubscribe = await context.database.listen('matrix_file', rhythm.news)
  while (!stopping.aborted) {
    await context.clock.sleep(1_000, stopping).catch(() => {})
    if (stopping.aborted || !rhythm.due()) continue
    await deps.snapshotCache
      .refresh()
      .catch((error: unknown) => context.log.error({ error: String(error) }, 'snapshots could not be made'))
    await deps.looks.refresh().catch(() => {})
    rhythm.done()
  }
  await unsubscribe()
}

/** Checked every minute, so that another process soon goes on where one died; what is held already costs nothing. */
function demoJob(deps: MatrixDeps, seed: (size: DemoSize) => Promise<void>, whole: DemoSize): TillJob {
  return {
    name: 'matrix.demo',
    intervalMs: 60_000,
    work: async () => {
      if (whole === fullDemo && !(await readQuality(deps.database, 'squeeze'))) {
        await seed(evaluatedDemo)
        await measureQuality(deps)
      }
      await seed(whole)
      await deps.snapshotCache.refresh()
    },
  }
}

/** LastFetches at the schedules every few minutes; what is due is fetched politely, and a refused file changes nothing. */
function fetchJob(deps: MatrixDeps, outbound: Outbound): TillJob {
  return {
    name: 'matrix.fetch',
    intervalMs: 5 * 60_000,
    work: async () => {
      await fetchDue({ ...deps, outbound }, deps.plans, {
        signal: deps.stopping,
        onReport: ({ source, name, outcome }) => {
          if (outcome.status === 'refused' || outcome.status === 'failed')
            deps.log.warn({ source, file: name, ...outcome }, 'a market data file was not taken')
          else if (outcome.status === 'stored' && Object.values(outcome.skipped).some((rows) => rows > 0))
            deps.log.info({ source, file: name, left_out: outcome.skipped }, 'rows of a market data file were left out')
        },
      })
      await deps.looks.refresh()
    },
  }
}

function qualityJob(deps: MatrixDeps, loading: () => boolean): TillJob {
  return {
    name: 'matrix.quality',
    intervalMs: 15_000,
    work: async () => {
      if (!loading() && (await qualityIsDue(deps.database))) await measureQuality(deps)
    },
  }
}

/** A few files at a time: each takes the thread for a moment, and none is waited for. */
function bulkJob(deps: MatrixDeps, loading: () => boolean): TillJob {
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  return {
    name: 'matrix.bulk',
    intervalMs: 15_000,
    work: async () => {
      if (loading() || deps.clock.monotonicMs() < pausedUntilMs) return
      const made = await recordBulkFiles(deps, feedIds, bulkFilesAtOnce)
      if (made === 0) pausedUntilMs = deps.clock.monotonicMs() + bulkPauseMs
    },
  }
}

const bulkFilesAtOnce = 6
/** Files come a few times a day. */
const bulkPauseMs = 60_000

async function measureQuality(deps: MatrixDeps): Promise<void> {
  await deps.fileCache.refresh(deps.database)
  const view = { sql: deps.database, fileCache: deps.fileCache, symbols: deps.symbols }
  const yieldToEventLoop = async () => {
    deps.stopping.throwIfAborted()
    await deps.clock.sleep(50)
  }
  const documents = await qualityOf(view, feedIds, { daysMax: qualityDaysMax, yieldToEventLoop })
  for (const [feed, document] of documents) await keepQuality(deps.database, feed, deps.clock.nowMs(), document)
}

const qualityDaysMax = 16
/** A demo shows what it looks like; years of it would be made up all the same. */
const demoScoredDays = 60
