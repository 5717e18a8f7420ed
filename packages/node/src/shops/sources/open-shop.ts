import { activeBonds } from '@assay/till/credit/bonds'
import { loadSharedSecret } from '@assay/till/proofs'
import {
  createBotAuth,
  createDnsResolver,
  createOutbound,
  type LoopbackTarget,
  publicAddresses,
  type Resolver,
} from '../../outbound/index.ts'
import { ownCitations, upheldDisputes, walletSpending } from '../ports.ts'
import { declareShop, type OpenShop, type ShopContext } from '../shop.ts'
import { shopPort } from '../shop-ports.ts'
import { withDemoZone } from './demo/demo-resolver.ts'
import { openDemoSites } from './demo/open-demo-sites.ts'
import { seedDemoSources } from './demo/seed-demo-sources.ts'
import { type CrawlSettings, defaultSettings, type ReadBonds, type SourceDeps, type SourceSettings } from './deps.ts'
import { createPdfReader } from './page/pdf-process-adapter.ts'
import { createRenderer } from './page/render-page-adapter.ts'
import { sourcesRetention } from './retention.ts'
import { sourceRoutes } from './routes.ts'
import { disputes } from './score/disputes-sql.ts'
import { parseCrawlSettings, sourcesVariables } from './settings.ts'
import { openSourceJobs } from './source-jobs.ts'

export type SourcesShopOptions = {
  /** Names under `.test` that a demo node asks at loopback. */
  demoHosts: ReadonlyMap<string, LoopbackTarget>
  /** IP addresses of recursive resolvers, two at least. */
  dnsServers: readonly string[]
  contactEmail: string
  crawl?: CrawlSettings
  settings?: Partial<SourceSettings>
  bonds?: ReadBonds
}

/** What shops that cite sources work with. */
export const sourcesPort = shopPort<SourceDeps>('sources')

const userAgent = (context: ShopContext, contact: string) => `AssayBot/1.0 (+${context.apiUrl}; ${contact})`

export const sourcesMigrations = new URL('./migrations/', import.meta.url)

export const sourcesShop = declareShop({
  name: 'sources',
  variables: sourcesVariables,
  migrations: [sourcesMigrations],
  demoRoles: ['creator'],
  retention: sourcesRetention,
  logEntries: [{ type: 'assay.score/v1', kind: 'score', subjectOf: ({ domain, seq }) => `score:${domain}:${seq}` }],
  configure: ({ CRAWL }, { demo, demoHosts, dnsServers, contactEmail }) =>
    openSourcesShop({
      demoHosts,
      dnsServers,
      contactEmail,
      bonds: activeBonds,
      crawl: parseCrawlSettings(CRAWL, demo),
    }),
})

/** Area C: domains, what they publish, and their score. */
export function openSourcesShop(options: SourcesShopOptions): OpenShop {
  return async (context) => {
    const demo = context.mode === 'demo'
    const sites = demo ? await openDemoSites({ base: context.base, clock: context.clock }) : undefined
    const hosts = new Map([...(sites?.hosts ?? []), ...(demo ? options.demoHosts : [])])
    const claimSecret = await loadSharedSecret(context.database, 'source_claims', context.rng)
    const deps = createSourceDeps(
      { ...context, claimSecret },
      options,
      hosts,
      sites ? (name) => sites.txtRecords(name) : () => [],
    )
    context.ports.offer(sourcesPort, deps)
    context.ports.offer(upheldDisputes, disputes)
    if (sites) await seedDemoSources(deps, sites)
    const stopping = new AbortController()
    const { jobs, stop } = await openSourceJobs(deps, stopping.signal)
    return {
      routes: sourceRoutes(deps),
      jobs,
      ...(sites ? { demo: () => ({ sources: sites.list.map(({ domain, url }) => ({ domain, url })) }) } : {}),
      ...(sites?.list[0] ? { examples: { 'https://example.com/a': sites.list[0].url } } : {}),
      stop: async () => {
        stopping.abort(new Error('the shop closes'))
        await stop()
        await sites?.stop()
      },
    }
  }
}

export function createSourceDeps(
  context: ShopContext & { claimSecret: Uint8Array },
  options: SourcesShopOptions,
  hosts: ReadonlyMap<string, LoopbackTarget>,
  txtRecords: (name: string) => readonly string[],
): SourceDeps {
  const { clock, rng, log, metrics } = context
  const demo = context.mode === 'demo'
  const real: Resolver[] = options.dnsServers.map((server) => createDnsResolver({ server, clock, rng }))
  const resolvers = demo ? real.map((resolver) => withDemoZone(resolver, hosts, txtRecords)) : real
  const ownHosts = [context.baseUrl, context.apiUrl].map((url) => new URL(url).hostname)
  const agent = userAgent(context, options.contactEmail)
  const outbound = createOutbound({
    resolvers,
    clock,
    log,
    metrics,
    userAgent: agent,
    sign: createBotAuth({ keyring: context.keyring, clock, rng, directoryOrigin: context.apiUrl }),
    ownHosts,
    ownAddresses: publicAddresses(),
    mode: context.mode,
    ...(demo ? { loopbackHosts: hosts } : {}),
  })
  const crawl = options.crawl ?? { ...defaultSettings.crawl, ...(demo ? { hostDelayMs: 0 } : {}) }
  const settings = {
    ...defaultSettings,
    ...(demo ? { checkPauseMs: 0, recrawlPauseMs: 0 } : {}),
    crawl,
    ...options.settings,
  }
  const spending = context.ports.find(walletSpending)
  return {
    database: context.database,
    clock,
    rng,
    ids: context.ids,
    log,
    metrics,
    outbound,
    readPdf: createPdfReader(clock),
    ...(crawl.renderer === undefined
      ? {}
      : { renderPage: createRenderer({ clock, outbound, program: crawl.renderer, userAgent: agent }) }),
    resolvers,
    proofs: context.proofs,
    jws: context.jws,
    claimSecret: context.claimSecret,
    termsChanges: { count: 0 },
    apiUrl: context.apiUrl,
    base: context.base,
    domains: { ownHosts: new Set(ownHosts), demoHosts: hosts },
    settings,
    ...(options.bonds ? { bonds: options.bonds } : {}),
    ...(spending ? { spendingSql: spending.microSql } : {}),
    markOwn: async (tx, found) => context.ports.find(ownCitations)?.(tx, found),
  }
}
