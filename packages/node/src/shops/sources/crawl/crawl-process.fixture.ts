import { knownNetworks } from '@assay/till/chain'
import { systemClock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import type { ProofDeps } from '@assay/till/proofs'
import { createDatabase } from '@assay/till/store/pool'
import { createOutbound } from '../../../outbound/index.ts'
import { defaultSettings, type SourceDeps } from '../deps.ts'
import { runCrawler } from './run-crawler.ts'

/** Crawls hosts that are served on one loopback port, with a lease of a second. */
export function loopbackDeps(databaseUrl: string, port: number, domains: readonly string[]): SourceDeps {
  const [base] = knownNetworks
  if (!base) throw new Error('no network')
  const hosts = new Map(domains.map((domain) => [domain, { address: '127.0.0.1', port }]))
  const common = { clock: systemClock, log: silentLog, metrics: silentMetrics, rng: systemRng }
  return {
    ...common,
    database: createDatabase({ ...common, target: { url: databaseUrl }, poolSize: 4 }),
    ids: createIds(systemClock, systemRng),
    outbound: createOutbound({
      ...common,
      resolvers: [],
      userAgent: 'AssayBot/1.0 (test)',
      loopbackHosts: hosts,
      mode: 'demo',
    }),
    resolvers: [],
    proofs: {} as ProofDeps,
    claimSecret: systemRng.bytes(32),
    termsChanges: { count: 0 },
    jws: { sign: (payload) => JSON.stringify(payload), verify: (jws) => JSON.parse(jws) },
    apiUrl: 'http://127.0.0.1',
    base,
    domains: { ownHosts: new Set(), demoHosts: hosts },
    settings: {
      ...defaultSettings,
      crawl: { ...defaultSettings.crawl, hostDelayMs: 0, requestMs: 3_000, leaseMs: 300_000 },
    },
  }
}

// As its own process it crawls until it is killed. Arguments: database, port, domains.
const [script = '', databaseUrl, port, ...domains] = process.argv.slice(1)
if (script.includes('crawl-process.fixture') && databaseUrl !== undefined)
  await runCrawler(loopbackDeps(databaseUrl, Number(port), domains), { forMs: 60_000 })
