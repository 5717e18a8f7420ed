import { knownNetworks } from '../chain/index.ts'
import { systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { systemRng } from '../kernel/random.ts'
import type { Outbound, OutboundOutcome, Resolver } from '../outbound/index.ts'
import { openTestDatabase, type TestDatabase } from '../store/testing.ts'
import { type SourceDeps, usualSettings } from './deps.ts'

export type SourceWorld = {
  deps: SourceDeps
  db: TestDatabase
  /** URL to body; what is not here answers 404. A number is a status, `down` an outage. */
  web: Map<string, string | number | 'down'>
  /** TXT records by name, by resolver; the same for both unless told. */
  txt: [Map<string, string[]>, Map<string, string[]>]
  dnsDown: boolean
  advance(ms: number): void
  close(): Promise<void>
}

const typeOf = (url: string) =>
  url.endsWith('.json')
    ? 'application/json'
    : /\.(?:txt)$/.test(url)
      ? 'text/plain'
      : url.endsWith('.xml')
        ? 'application/xml'
        : 'text/html'

/** Sources on a real database with a web, two resolvers and a clock that the test turns. */
export async function openSourceWorld(): Promise<SourceWorld> {
  const db = await openTestDatabase()
  let offsetMs = 0
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + offsetMs }
  const [base] = knownNetworks
  if (!base) throw new Error('no network')
  const world: Omit<SourceWorld, 'deps'> = {
    db,
    web: new Map(),
    txt: [new Map(), new Map()],
    dnsDown: false,
    advance: (ms) => {
      offsetMs += ms
    },
    close: () => db.close(),
  }
  const resolver = (index: 0 | 1): Resolver => ({
    name: `resolver-${index}`,
    addresses: async () => ({ status: 'ok', addresses: [] }),
    txt: async (name) =>
      world.dnsDown
        ? { status: 'failed', detail: 'down' }
        : { status: 'ok', records: world.txt[index].get(name) ?? [], authenticated: false, ttlSeconds: 60 },
    caa: async () => ({ status: 'ok', records: [], authenticated: false, ttlSeconds: 60 }),
  })
  const deps: SourceDeps = {
    database: db.database,
    clock,
    rng: systemRng,
    ids: createIds(clock, systemRng),
    log: silentLog,
    metrics: silentMetrics,
    outbound: { fetch: async (url) => answerOf(world.web, url) } satisfies Outbound,
    resolvers: [resolver(0), resolver(1)],
    proofs: {
      clock,
      nonces: { issue: () => '', verify: () => true } as never,
      claimNonce: async () => true,
      checkContractSignature: async () => 'invalid',
      chainIds: [base.chainId],
    },
    jws: { sign: (payload) => JSON.stringify(payload), verify: (jws) => JSON.parse(jws) },
    apiUrl: 'https://api.node.example.net',
    base,
    domains: { ownHosts: new Set(['api.node.example.net']), demoHosts: new Set<string>() },
    settings: { ...usualSettings, checkPauseMs: 0, crawl: { ...usualSettings.crawl, hostDelayMs: 0 } },
  }
  return Object.assign(world, { deps })
}

function answerOf(web: SourceWorld['web'], url: string): OutboundOutcome {
  const body = web.get(url) ?? 404
  if (body === 'down') return { status: 'failed', reason: 'connect', detail: 'no connection', url, retryable: false }
  return {
    status: 'ok',
    httpStatus: typeof body === 'number' ? body : 200,
    headers: new Map([['content-type', typeOf(url)]]),
    bytes: Buffer.from(typeof body === 'number' ? '' : body),
    cut: false,
    url,
    redirectedFrom: [],
    address: '203.0.114.1',
    secure: url.startsWith('https:'),
  }
}
