import {
  createJwsPort,
  type Infrastructure,
  instancePayees,
  openCustody,
  openGate,
  openInfrastructure,
  openPayouts,
  openSettlement,
  openTillStore,
  type Ports,
  type ReadinessCheck,
  readinessChecks,
  recoverAtStart,
  runJobs,
  type Stops,
  startJobs,
  tillJobs,
} from './compose/index.ts'
import type { PaidRoute } from './contract/paid-call.ts'
import { tillPaths } from './documents/till-documents.ts'
import { msSinceJob } from './jobs/index.ts'
import { type Clock, systemClock } from './kernel/clock.ts'
import { ConfigError } from './kernel/config-error.ts'
import { createIds } from './kernel/ids.ts'
import { silentMetrics } from './kernel/metrics.ts'
import { systemRng } from './kernel/random.ts'
import { stderrLog } from './kernel/stderr-log.ts'
import { docsOriginOf, openSelling } from './open-selling.ts'
import { prepareDue } from './payouts/index.ts'
import { requestRefund } from './refunds/refund-payment.ts'
import { changePayees } from './store/change-payees.ts'
import type { Database } from './store/database.ts'
import { readInstanceKey } from './store/instance.ts'
import type { Till } from './till.ts'
import { createEvents } from './till-events.ts'
import { readTillOptions, type TillOptions, type TillSettings } from './till-options.ts'

/** A till for the routes of an application. Rejects with every problem of the options at once. */
export async function createTill(options: TillOptions): Promise<Till> {
  const settings = readTillOptions(options ?? ({} as TillOptions))
  const stops: Stops = []
  const close = async () => {
    for (const undo of stops.splice(0).reverse()) await undo().catch(() => {})
  }
  try {
    return await compose(options, settings, stops, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function compose(
  options: TillOptions,
  settings: TillSettings,
  stops: Stops,
  close: () => Promise<void>,
): Promise<Till> {
  const { clock = systemClock, rng = systemRng, log = stderrLog, intercept = {} } = options
  const ids = createIds(clock, rng)
  const events = createEvents(`till_${ids.next('ev')}`, log)
  const ports: Ports = {
    ...{ clock, rng, ids, log },
    metrics: events.watch(options.metrics ?? silentMetrics),
    progress: () => {},
  }
  const onLost = () => log.error({}, 'the data folder is no longer held')
  const store = await openTillStore({ ...settings, migrations: [], onLost }, ports, stops, intercept)
  stops.push(events.stop)
  if (options.payeesChanged) await acceptPayees(store.database, settings, options.payeesChanged)
  const infrastructure = await openInfrastructure({ ...settings, payeesHint }, ports, store, stops, intercept)
  const composition = { ports, infrastructure, stops }
  const parts = [events.part, ...(options.parts ?? [])]
  const paidRoutes = new Map<string, PaidRoute>()
  const routeOf = (id: string) => paidRoutes.get(id)
  const { screeningList } = options
  const settlement = await openSettlement({ ...settings, screeningList }, composition, intercept)
  const gate = await openGate(
    {
      ...gateSettings(options, settings, ports, infrastructure),
      docsOrigin: docsOriginOf(settings),
      parts,
      routeOf,
      channels: options.channels,
    },
    composition,
    settlement,
  )
  const { drain, ...selling } = openSelling({ settings, options, ports, infrastructure, paidRoutes }, gate)
  const payouts = openPayouts(openCustody(settings, composition, settlement), parts)
  await prepareDue(store.database, payouts.purposes, payouts.policy)
  const { retention } = settings
  const work = {
    ...{ routeOf, routePatienceMs, payouts, retention },
    // Often enough for those who sell only while it runs.
    recoverIdleMs: settings.jobsMsMax / 3,
  }
  const rounds = {
    ports,
    infrastructure,
    owner: gate.owner,
    ...(intercept.job ? { intercept: intercept.job, everyRound: true } : {}),
  }
  const jobs = tillJobs(ports, infrastructure, gate, work)
  if (options.jobs !== 'cron') {
    // No route is declared so far, so none is missing.
    await recoverAtStart(ports, infrastructure, gate, { ...work, routePatienceMs: Number.POSITIVE_INFINITY })
    startJobs(rounds, jobs, stops)
  }
  stops.push(drain)
  return {
    ...selling,
    origin: settings.origin,
    database: store.database,
    entitle: gate.entitlements.add,
    refund: (request) => requestRefund(store.database, request),
    on: (name, listener) => {
      if (name !== 'alarm' && store.database.pooled) throw new ConfigError([pooledEvents(name)])
      return events.on(store.database, name, listener)
    },
    runJobs: async () => {
      await gate.owner.stayAlive()
      return runJobs(rounds, jobs)
    },
    ready: () => checkReadiness(clock, readinessChecks(infrastructure, gate, parts)),
    close,
  }
}

/** Routes are declared once the till is open, and by some frameworks only when they are first asked for. */
const routePatienceMs = 600_000

const payeesHint =
  'If payTo or custody was changed on purpose: start once with payeesChanged: { reason, by } in the options'

async function acceptPayees(
  database: Database,
  { networks, payees }: TillSettings,
  { reason, by }: NonNullable<TillOptions['payeesChanged']>,
): Promise<void> {
  const known = await readInstanceKey(database)
  if (known !== undefined) await changePayees(database, instancePayees(networks, payees), { actor: by, reason })
}

const pooledEvents = (name: string) =>
  `on('${name}'): events need a connection past the pooler, set databaseDirect; or use commit`

const gateSettings = (options: TillOptions, settings: TillSettings, ports: Ports, infrastructure: Infrastructure) => ({
  ...settings,
  serviceName: settings.name,
  statusUrl: (paymentId: string) => `${settings.origin}${tillPaths.payments}/${paymentId}`,
  answerUrl: (paymentId: string) => `${settings.origin}${tillPaths.payments}/${paymentId}/answer`,
  payToExclusive: options.payToExclusive === true,
  jws: createJwsPort(infrastructure.keyring, [new URL(settings.origin).host], ports.clock),
  mpp: options.mpp !== false,
  ...(options.schemes === undefined ? {} : { schemes: options.schemes }),
  // A caller that intercepts jobs runs them by hand.
  ...(options.intercept?.job ? {} : { refusesSales: jobsWatch(options, settings.jobsMsMax, infrastructure, ports) }),
})

/**
 * Whether it is too long since somebody ran the jobs: money that nobody watches is not taken. Also where they run in this
 * process, which a platform may freeze between requests.
 */
function jobsWatch(
  { jobs }: TillOptions,
  msMax: number,
  { store }: Infrastructure,
  { clock }: Ports,
): () => Promise<boolean> {
  const startedMs = clock.monotonicMs()
  // Its own first round is under way when this process begins to sell.
  const msSinceStart = () => (jobs === 'cron' ? Number.POSITIVE_INFINITY : clock.monotonicMs() - startedMs)
  let known: { atMs: number; tooLong: Promise<boolean> } | undefined
  const read = async () =>
    Math.min((await msSinceJob(store.database, 'payments.recover')) ?? Number.POSITIVE_INFINITY, msSinceStart()) > msMax
  return () => {
    const nowMs = clock.monotonicMs()
    if (known === undefined || nowMs - known.atMs >= 1_000) known = { atMs: nowMs, tooLong: read() }
    return known.tooLong
  }
}

const readinessMsMax = 5_000

async function checkReadiness(clock: Clock, checks: readonly ReadinessCheck[]): Promise<Record<string, boolean>> {
  const entries = checks.map(async ({ name, check }) => {
    const over = new AbortController()
    const late = clock.sleep(readinessMsMax, over.signal).then(() => false)
    const ok = await Promise.race([check(over.signal), late]).catch(() => false)
    over.abort()
    late.catch(() => {})
    return [name, ok] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}
