import type { OpenShop, Shop, ShopContext } from '../http/index.ts'
import type { Address } from '../kernel/address.ts'
import {
  createBotAuth,
  createDnsResolver,
  createOutbound,
  type LoopbackTarget,
  publicAddresses,
  type Resolver,
} from '../outbound/index.ts'
import { runCrawler } from './crawl/run-crawler.ts'
import { withDemoZone } from './demo/demo-resolver.ts'
import { openDemoSites } from './demo/open-demo-sites.ts'
import { seedDemoSources } from './demo/seed-demo-sources.ts'
import { type SourceDeps, type SourceSettings, usualSettings } from './deps.ts'
import { openMarket } from './open-market.ts'
import { sourceRoutes } from './routes.ts'
import { refoldAll } from './score/fold-citations.ts'
import { scoreSources } from './score/score-sources.ts'
import { recheckSources } from './sources/settle-contests.ts'

export type CitationsShopOptions = {
  /** Names under `.test` that a demo node asks at loopback. */
  demoHosts: ReadonlyMap<string, LoopbackTarget>
  /** IP addresses of recursive resolvers, two at least. */
  dnsServers: readonly string[]
  contactEmail: string
  settings?: Partial<SourceSettings>
  /** The JSON of `CITATIONS`, and the terms that every attestation names. */
  market?: Record<string, unknown>
  royalty: { recipient: Address; licence: string }
}

const userAgent = (context: ShopContext, contact: string) => `AssayBot/1.0 (+${context.apiUrl}; ${contact})`
const crawlWorkers = 2
const windowMs = 60_000

/** Area C: sources. */
export function openCitationsShop(options: CitationsShopOptions): OpenShop {
  return async (context) => {
    const demo = context.mode === 'demo'
    const sites = demo ? await openDemoSites({ base: context.base, clock: context.clock }) : undefined
    const hosts = new Map([...(sites?.hosts ?? []), ...(demo ? options.demoHosts : [])])
    const deps = createSourceDeps(context, options, hosts, sites ? (name) => sites.txtRecords(name) : () => [])
    if (sites) await seedDemoSources(deps, sites)
    const stopping = new AbortController()
    const market = await openMarket(context, deps, options)
    return {
      ...market,
      routes: [...sourceRoutes(deps), ...market.routes],
      jobs: [...jobsOf(deps, stopping.signal), ...market.jobs],
      ...(sites ? { demo: () => ({ sources: sites.list.map(({ domain, url }) => ({ domain, url })) }) } : {}),
      stop: async () => {
        stopping.abort(new Error('the shop closes'))
        await sites?.stop()
      },
    } satisfies Shop
  }
}

export function createSourceDeps(
  context: ShopContext,
  options: CitationsShopOptions,
  hosts: ReadonlyMap<string, LoopbackTarget>,
  txtRecords: (name: string) => readonly string[],
): SourceDeps {
  const { clock, rng, log, metrics } = context
  const demo = context.mode === 'demo'
  const real: Resolver[] = options.dnsServers.map((server) => createDnsResolver({ server, clock, rng }))
  const resolvers = demo ? real.map((resolver) => withDemoZone(resolver, hosts, txtRecords)) : real
  const ownHosts = [context.baseUrl, context.apiUrl].map((url) => new URL(url).hostname)
  const outbound = createOutbound({
    resolvers,
    clock,
    log,
    metrics,
    userAgent: userAgent(context, options.contactEmail),
    sign: createBotAuth({ keyring: context.keyring, clock, rng, directoryOrigin: context.apiUrl }),
    ownHosts,
    ownAddresses: publicAddresses(),
    mode: context.mode,
    ...(demo ? { loopbackHosts: hosts } : {}),
  })
  const crawl = { ...usualSettings.crawl, ...(demo ? { hostDelayMs: 0 } : {}) }
  const settings = {
    ...usualSettings,
    ...(demo ? { checkPauseMs: 0, recrawlPauseMs: 0 } : {}),
    crawl,
    ...options.settings,
  }
  return {
    database: context.database,
    clock,
    rng,
    ids: context.ids,
    log,
    metrics,
    outbound,
    resolvers,
    proofs: context.proofs,
    jws: context.jws,
    apiUrl: context.apiUrl,
    base: context.base,
    domains: { ownHosts: new Set(ownHosts), demoHosts: hosts },
    settings,
  }
}

// The queue itself keeps workers apart, so every process may crawl: each draws names of its own out of a thousand.
function crawlerNames({ rng }: SourceDeps): string[] {
  const names = new Set<string>()
  while (names.size < crawlWorkers) names.add(`citations.crawl.${Buffer.from(rng.bytes(2)).readUInt16BE() % 1_000}`)
  return [...names]
}

function jobsOf(deps: SourceDeps, stopping: AbortSignal): NonNullable<Shop['jobs']> {
  const crawlers = crawlerNames(deps).map((name) => ({
    name,
    intervalMs: 500,
    work: () => runCrawler(deps, { forMs: windowMs, signal: stopping }),
  }))
  return [
    ...crawlers,
    {
      name: 'citations.score',
      intervalMs: 500,
      work: async () => {
        while (!stopping.aborted && (await scoreSources(deps)) > 0);
      },
    },
    { name: 'citations.recheck', intervalMs: 60_000, work: () => recheckSources(deps) },
    {
      name: 'citations.refold',
      intervalMs: 86_400_000,
      work: () => refoldAll(deps),
    },
  ]
}
