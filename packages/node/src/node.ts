import { join } from 'node:path'
import { checksumAddress } from '@assay/protocol/address'
import type { ChannelPolicy, Scheme } from '@assay/till'
import {
  type Custody,
  type OpenedGate,
  type OpenedSettlement,
  openCustody,
  openGate,
  openPayouts,
  openSettlement,
  recoverAtStart,
  type Stops,
  startJobs,
  tillJobs,
} from '@assay/till/compose'
import type { Devnet } from '@assay/till/devnet'
import { bazaarExtension } from '@assay/till/documents'
import type { JwsPort, Payees } from '@assay/till/internal'
import { type Clock, systemClock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import type { Log } from '@assay/till/kernel/log'
import { type LoopWatch, systemLoopHost, watchLoop } from '@assay/till/kernel/loop-watch'
import { type Rng, systemRng } from '@assay/till/kernel/random'
import { prepareDue, recordDestinations } from '@assay/till/payouts'
import { createResponseSigner } from '@assay/till/signing'
import type { PauseState } from '@assay/till/store/pauses'
import { type Infrastructure, type Interceptors, openInfrastructure, type Ports } from './compose/infrastructure.ts'
import { openMetrics, type WorkerPlace } from './compose/processes/worker-place.ts'
import { nodeRoutes } from './compose/routes.ts'
import { type Origins, openShops, payeesOf, shopContext } from './compose/shops.ts'
import { openWalletKeys } from './compose/wallet-keys.ts'
import type { Config, ConfiguredShop } from './config/load-config.ts'
import { recordRouteShops, routeShopMigrations } from './faces/console/route-shops.ts'
import {
  createHttpApp,
  createLog,
  createRegistry,
  type HttpApp,
  openListener,
  type Registry,
  type RouteDeclaration,
  sheddingLoad,
  type Unavailable,
} from './http/index.ts'
import { saleHooks } from './shops/ports.ts'
import type { OpenShop, Shop } from './shops/shop.ts'
import type { ShopPorts } from './shops/shop-ports.ts'
import { logMigrations } from './tlog/index.ts'

export type RunningNode = {
  /** BASE_URL. */
  url: string
  /** Where this process listens. */
  address: string
  config: Config
  /** Another process can join with it. */
  databaseUrl: string
  devnets: readonly Devnet[]
  /** Path of something cheap to buy first. */
  firstPurchase: string | undefined
  stop(): Promise<void>
}

export type NodeOptions = {
  onProgress?(text: string): void
  clock?: Clock
  rng?: Rng
  log?: Log
  /** Chains that already run in this process, instead of starting or joining some. */
  devnets?: readonly Devnet[]
  /** Shops beside the node's own, and their tables where the database does not have them yet. */
  shops?: readonly (OpenShop | ConfiguredShop)[]
  /** Payment schemes beside `exact`. */
  schemes?: readonly Scheme[]
  /** Limits of payment channels, in place of the usual ones. */
  channels?: Partial<ChannelPolicy>
  /** Which of the configured shops open, by name; `till` are those that declare `opensWithTill`. */
  ownShops?: 'all' | 'till' | readonly string[]
  /** False leaves recovery, reconciliation and the shops' jobs to other processes. */
  jobs?: boolean
  /** Puts something between the node and its outside world: fault injection, kill points, recording. */
  intercept?: Interceptors
  /** Records when the event loop is blocked, and what was running; for a process that does nothing but this node. */
  watchLoop?: boolean
  /** Prepares what the first visitor would otherwise wait for. */
  warm?: boolean
  /** The routes are those that the tests have started with: their examples are not checked again. */
  trustExamples?: boolean
  /** Connections taken per turn of the loop; see http/acceptors.ts. */
  acceptors?: number
  /** This process is one of several behind a socket that another one bound; see compose/processes. */
  worker?: WorkerPlace
  /** The node can no longer be sure that it alone works on what it claimed: it should be stopped. */
  onLost?(reason: string): void
}

/** The composition root: parts are built bottom up and stopped top down. */
export async function startNode(config: Config, options: NodeOptions = {}): Promise<RunningNode> {
  const stops: Stops = []
  const stop = async () => {
    for (const undo of stops.splice(0).reverse()) await undo().catch(() => {})
  }
  try {
    const running = await compose(config, options, stops)
    return { ...running, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function compose(config: Config, options: NodeOptions, stops: Stops): Promise<Omit<RunningNode, 'stop'>> {
  const ports = await withTelemetry(config, openPorts(config, options), stops)
  const watch = options.watchLoop ? watchLoop({ ...ports, host: systemLoopHost() }) : undefined
  if (watch) stops.push(watch.stop)
  const intercept = options.intercept ?? {}
  const chosen = chosenShops(config, options)
  const payees = payeesOf(config)
  const keys = await openWalletKeys(config, ports)
  const infrastructure = await openInfrastructure(config, ports, stops, {
    payees,
    keys,
    onLost: () => options.onLost?.('the data folder is no longer held'),
    intercept,
    migrations: [logMigrations, ...new Set([routeShopMigrations, ...chosen.flatMap(({ migrations }) => migrations)])],
    ...(options.devnets === undefined ? {} : { devnets: options.devnets }),
  })
  const listener = await listenFor(config, options, ports.log)
  stops.push(() => listener.drain())
  const origins = { baseUrl: config.baseUrl ?? listener.url, apiUrl: config.apiUrl ?? config.baseUrl ?? listener.url }
  const composition = { ports, infrastructure, stops }
  const settlement = await openSettlement({ ...config, ...keys }, composition, intercept)
  const doesJobs = options.jobs !== false && !options.worker?.index
  const custody = doesJobs ? openCustody({ ...config, ...keys, payees }, composition, settlement) : undefined
  const context = {
    ...(await shopContext({ config, shops: chosen, ports, infrastructure, origins, payees, settlement, custody })),
    ...(options.worker?.index ? { cacheFolder: join(config.home, 'workers', String(options.worker.index)) } : {}),
  }
  const openedShops = await openShops(context, chosen, stops)
  const shops = openedShops.map((shop) => intercept.shop?.(shop) ?? shop)
  const opened: Opened = { config, options, watch, ports, infrastructure, stops, payees, origins, settlement, shops }
  const routes = nodeRoutes(opened)
  offerToShops(context.ports, shops, routes)
  const registry = createRegistry(routes, bazaarExtension, options.trustExamples)
  const till = await openTill(opened, context.jws, registry)
  const app = openApp(opened, till, registry, listener.port)
  if (!options.worker?.index) await recordRouteShops(infrastructure.store.database, routes)
  if (custody) await startWork(opened, till, custody, registry)
  await listener.serve(watch ? watchedApp(watch, app) : app)
  if (options.warm)
    for (const shop of shops) shop.warm?.().catch((error) => ports.log.warn({ error }, 'warming up failed'))
  // First of all when the node stops: what is under way still needs wallets, owner and shops to end well.
  stops.push(() => listener.drain())
  return {
    url: origins.baseUrl,
    address: listener.url,
    config,
    databaseUrl: infrastructure.store.databaseUrl,
    devnets: infrastructure.devnets,
    firstPurchase: shops.find((shop) => shop.firstPurchase)?.firstPurchase,
  }
}

/** What a node is opened with, bottom up. */
type Opened = {
  config: Config
  options: NodeOptions
  watch: LoopWatch | undefined
  ports: Ports
  infrastructure: Infrastructure
  stops: Stops
  payees: Payees
  origins: Origins
  settlement: OpenedSettlement
  shops: readonly Shop[]
}

const listenFor = (config: Config, { acceptors, worker }: NodeOptions, log: Log) =>
  openListener({
    port: config.port,
    host: config.host,
    log,
    ...(acceptors === undefined ? {} : { acceptors }),
    ...(worker === undefined ? {} : { handles: worker.handles }),
    // Behind a proxy all connections come from one address.
    ...(config.mode === 'production' && config.trustProxy === 0 ? { connectionsPerAddressMax: 512 } : {}),
  })

function openTill(opened: Opened, jws: JwsPort, registry: Registry): Promise<OpenedGate> {
  const { config, options, payees, origins, settlement, shops } = opened
  return openGate(
    {
      serviceName: 'Assay',
      docsOrigin: origins.baseUrl,
      statusUrl: (paymentId) => `${origins.baseUrl}/v1/payments/${paymentId}`,
      payees,
      payToExclusive: !config.sharedPayees,
      exposureCapMicro: config.exposureCapMicro,
      mpp: config.mpp,
      jws,
      parts: shops,
      ...(options.schemes === undefined ? {} : { schemes: options.schemes }),
      routeOf: registry.paid,
      ...(config.channels ? { channels: options.channels ?? {} } : {}),
    },
    opened,
    settlement,
  )
}

/** What the node does unasked: payouts, recovery, and the jobs of till and shops. */
async function startWork(
  { config, options, watch, ports, infrastructure, stops, shops }: Opened,
  till: OpenedGate,
  custody: Custody,
  registry: Registry,
): Promise<void> {
  const payouts = openPayouts(custody, shops)
  await prepareDue(infrastructure.store.database, payouts.purposes, payouts.policy)
  await recordDestinations(infrastructure.store.database, config.withdrawals)
  const { retention } = config
  const work = { routeOf: registry.paid, payouts, retention }
  await recoverAtStart(ports, infrastructure, till, work)
  const given = options.intercept?.job
  const intercept = watch
    ? (name: string, round: () => Promise<void>) => () => watch.during(name, given?.(name, round) ?? round)
    : given
  const jobs = tillJobs(ports, infrastructure, till, work)
  // Shops are asked to stop while their jobs may still be running: long work ends at the next opportunity.
  const rounds = { ports, infrastructure, owner: till.owner, everyRound: given !== undefined }
  startJobs({ ...rounds, ...(intercept ? { intercept } : {}) }, jobs, stops, () =>
    Promise.all(shops.map((shop) => shop.stop?.())),
  )
}

const watchedApp = (watch: LoopWatch, app: HttpApp): HttpApp => ({
  ...app,
  handle: (request) => {
    watch.recordRequest()
    return app.handle(request)
  },
})

/** The node's own shops that were asked for, and those that came with the start. */
function chosenShops(config: Config, { ownShops = 'all', shops = [] }: NodeOptions): ConfiguredShop[] {
  return [
    ...config.shops.filter(({ name, opensWithTill }) =>
      ownShops === 'till' ? opensWithTill : ownShops === 'all' || ownShops.includes(name),
    ),
    ...shops.map((shop) => (typeof shop === 'function' ? { name: 'further', open: shop, migrations: [] } : shop)),
  ]
}

function openPorts(config: Config, options: NodeOptions): Ports {
  const clock = options.clock ?? systemClock
  const rng = options.rng ?? systemRng
  return {
    clock,
    rng,
    ids: createIds(clock, rng),
    log: options.log ?? createLog({ level: config.logLevel }),
    metrics: openMetrics(options.worker),
    progress: options.onProgress ?? (() => {}),
  }
}

/** Without a collector none of it is loaded, and nothing is measured for it. */
async function withTelemetry({ telemetry }: Config, ports: Ports, stops: Stops): Promise<Ports> {
  if (telemetry === undefined) return ports
  const { openTelemetry } = await import('./compose/telemetry/open-telemetry.ts')
  const opened = openTelemetry(telemetry, ports)
  stops.push(opened.stop)
  return opened.ports
}

/** What a shop may ask for once all are open. */
function offerToShops(ports: ShopPorts, shops: readonly Shop[], routes: readonly RouteDeclaration[]): void {
  ports.offer(
    saleHooks,
    shops.flatMap((shop) => shop.saleHooks ?? []),
  )
  const announced = () => Object.assign({}, ...shops.map((shop) => shop.announces?.() ?? {}))
  for (const shop of shops) shop.onRoutes?.(routes, announced)
}

function openApp(opened: Opened, till: OpenedGate, registry: Registry, localPort: number): HttpApp {
  const { config, ports, infrastructure, origins, shops } = opened
  const { clock, ids, log, metrics } = ports
  // Only a demo has any: elsewhere nothing is called on the way of a request.
  const listening = shops.flatMap(({ onAnswered }) => onAnswered ?? [])
  const app = createHttpApp({
    registry,
    gate: till.gate,
    signer: createResponseSigner(infrastructure.keyring, { clock }),
    config: {
      ...origins,
      demo: config.mode === 'demo',
      localPort,
      royaltyRecipient: checksumAddress(config.royaltyRecipient),
      contentLicense: config.contentLicense,
      trustProxy: config.trustProxy,
      load: sheddingLoad,
    },
    clock,
    ids,
    log,
    metrics,
    readiness: {
      // Asked on every request, so it may not wait: it answers from the state read last, and the gate reads again.
      refusal: () => whilePaused(till.pauses.latest()?.get('sales')),
    },
    probe: () => infrastructure.store.database.query('select'),
    attributed: (attribution) => {
      for (const shop of shops) shop.onAttribution?.(attribution)
    },
    ...(listening.length > 0 && {
      answered: (rawHeaders) => {
        for (const onAnswered of listening) onAnswered(rawHeaders)
      },
    }),
    findPeer: (method, path) => shops.map((shop) => shop.findPeer?.(method, path)).find((url) => url !== undefined),
  })
  // Anyone who asks for the keys right after a change must not get the old ones.
  infrastructure.keyring.onChange(() => app.clearSharedAnswers())
  return app
}

function whilePaused(state: PauseState | undefined): Unavailable | undefined {
  if (!state?.paused) return undefined
  const detail = state.reason === '' ? 'The operator has paused sales.' : `Sales are paused: ${state.reason}`
  return { why: 'paused', detail, sinceMs: state.changedAt.getTime(), retryAfterSeconds: 10 }
}
