import { knownNetworks } from '@assay/till/chain'
import { systemClock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterAll } from 'vitest'
import type { Outbound, OutboundOutcome, OutboundRequest, Resolver } from '../../outbound/index.ts'
import { markOwn } from '../attestations/attest/mark-own.ts'
import { defaultSettings, type SourceDeps } from './deps.ts'
import { createPdfReader } from './page/pdf-process-adapter.ts'

export type Answering = (request: OutboundRequest) => {
  status?: number
  body?: string
  bytes?: Uint8Array
  headers?: Record<string, string>
}

export type SourceWorld = {
  deps: SourceDeps
  db: TestDatabase
  /** URL to body; what is not here answers 404. A number is a status, `down` an outage, a function answers by itself. */
  web: Map<string, string | number | 'down' | Answering>
  /** Every request that left, in order. */
  requests: { url: string; headers: Readonly<Record<string, string>> }[]
  /** Called before each request; what it returns is the answer. */
  intercept: ((url: string, request: OutboundRequest) => Promise<OutboundOutcome | undefined>) | undefined
  /** TXT records by name, by resolver; default: the same for both. */
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
    requests: [],
    intercept: undefined,
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
    srv: async () => ({ status: 'ok', records: [], authenticated: false, ttlSeconds: 60 }),
  })
  const deps: SourceDeps = {
    database: db.database,
    clock,
    rng: systemRng,
    ids: createIds(clock, systemRng),
    log: silentLog,
    metrics: silentMetrics,
    outbound: {
      fetch: async (url, request) => {
        world.requests.push({ url, headers: request.headers ?? {} })
        return (await world.intercept?.(url, request)) ?? answerOf(world.web, url, request)
      },
    } satisfies Outbound,
    readPdf: createPdfReader(clock),
    resolvers: [resolver(0), resolver(1)],
    proofs: {
      clock,
      nonces: { issue: () => '', verify: () => true } as never,
      claimNonce: async () => true,
      checkContractSignature: async () => 'invalid',
      chainIds: [base.chainId],
    },
    claimSecret: systemRng.bytes(32),
    termsChanges: { count: 0 },
    jws: { sign: (payload) => JSON.stringify(payload), verify: (jws) => JSON.parse(jws) },
    apiUrl: 'https://api.node.example.net',
    base,
    domains: { ownHosts: new Set(['api.node.example.net']), demoHosts: new Set<string>() },
    markOwn,
    settings: { ...defaultSettings, checkPauseMs: 0, crawl: { ...defaultSettings.crawl, hostDelayMs: 0 } },
  }
  return Object.assign(world, { deps })
}

/** For all tests of a file. */
export async function useSourceWorld(): Promise<SourceWorld> {
  const world = await openSourceWorld()
  afterAll(() => world.close())
  return world
}

function answerOf(web: SourceWorld['web'], url: string, request: OutboundRequest): OutboundOutcome {
  const found = web.get(url) ?? 404
  if (found === 'down') return failure(url)
  const {
    status = 200,
    body = '',
    bytes = Buffer.from(body),
    headers = {},
  }: ReturnType<Answering> = typeof found === 'function'
    ? found(request)
    : typeof found === 'number'
      ? { status: found }
      : { body: found }
  return {
    status: 'ok',
    httpStatus: status,
    headers: new Map(Object.entries({ 'content-type': typeOf(url), ...headers })),
    bytes,
    cut: false,
    url,
    redirectedFrom: [],
    address: '203.0.114.1',
    secure: url.startsWith('https:'),
  }
}

export const failure = (url: string, retryable = false): OutboundOutcome => ({
  status: 'failed',
  reason: 'connect',
  detail: 'no connection',
  url,
  retryable,
})
