import type { PlayedPeer } from '@assay/protocol/mesh/hostile-peer.fixture'
import { parseNodeAddress } from '@assay/protocol/mesh/node-address'
import type { MeshOffer } from '@assay/protocol/mesh/read-statement'
import { sha256 } from '@assay/till/kernel/bytes'
import { type Clock, systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import {
  createFixedKeyring,
  createResponseSigner,
  generateSigningKey,
  type Keyring,
  keyDirectory,
  keyDirectoryPath,
  privateKeyFromSeed,
} from '@assay/till/signing'
import type { Database } from '@assay/till/store/database'
import { claimNonce } from '@assay/till/store/nonce-claims'
import type { TestDatabase } from '@assay/till/store/testing'
import type { OutboundOutcome, Resolver } from '../../outbound/index.ts'
import type { MeshDeps } from './deps.ts'
import { createDnsSeeds } from './dns-seeds.ts'
import { announcePath, meshPath } from './limits.ts'
import { createMeshViews } from './mesh-view.ts'
import { makeStatement } from './own-statement.ts'
import type { PeerFetcher } from './peer-fetcher.ts'
import { createRounds } from './run-round.ts'
import { meshSettings } from './settings.ts'
import { signNodeRequest } from './sign-request.ts'

/** A clock that tests move; sleeping takes no real time. */
export function movableClock(startMs = 1_800_000_000_000): Clock & { advance(ms: number): void } {
  let nowMs = startMs
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 5), signal),
    advance: (ms) => {
      nowMs += ms
    },
  }
}

export const reportOffer: MeshOffer = {
  capability: 'token.control.report',
  method: 'GET',
  path: '/v1/report/{address}',
  price_micro: '20000',
  networks: ['eip155:8453'],
  example: '/v1/report/0x1',
}

export const fixedKeyring = (seedByte: number): Keyring =>
  createFixedKeyring(privateKeyFromSeed(Buffer.alloc(32, seedByte).toString('base64url')), 1_000)

const refusedOutcome = (url: string): OutboundOutcome => ({
  status: 'failed',
  reason: 'connect',
  detail: 'nobody there',
  url,
  retryable: true,
})

export const ok = (
  url: string,
  httpStatus: number,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
  address = '192.0.2.1',
): OutboundOutcome => ({
  status: 'ok',
  httpStatus,
  headers: new Map(Object.entries(headers)),
  bytes: Buffer.from(body),
  cut: false,
  url,
  redirectedFrom: [],
  address,
  secure: true,
})

/** What a peer of the hostile-peer fixture answers, as the fetcher gives it. */
async function playedAnswer(
  { peer, networkAddress }: Played,
  url: string,
  { method = 'GET', body, headers = {}, signal, maxBytes, as }: Parameters<PeerFetcher['fetch']>[1],
): Promise<OutboundOutcome> {
  const failed = (reason: 'timeout' | 'too_large'): OutboundOutcome => ({
    ...{ status: 'failed', reason, detail: '', url, retryable: true },
  })
  try {
    const sent = method === 'POST' ? { body: body ?? '' } : {}
    const response = await peer.respond(
      new Request(url, {
        method,
        headers: { ...headers, 'user-agent': as === 'buyer' ? 'node' : 'AssayMesh/1.0' },
        signal: signal ?? null,
        ...sent,
      }),
    )
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (bytes.byteLength > maxBytes) return failed('too_large')
    return ok(url, response.status, bytes, Object.fromEntries(response.headers), networkAddress)
  } catch {
    return failed('timeout')
  }
}

type Played = { peer: PlayedPeer; networkAddress: string }

/** Another node, as far as the wire shows it; every part can be altered. */
export type FakePeer = {
  origin: string
  did: string
  keyring: Keyring
  deps: MeshDeps
  /** What it serves, when it does. */
  answer(path: string, method: string): OutboundOutcome | Promise<OutboundOutcome> | undefined
  statement(sequence?: number): string
  /** Everything asked of it. */
  asked: string[]
  known: { did: string; address: string; sequence: number }[]
  /** Peers that it says it got no answer from. */
  silent: string[]
  announced: { headers: Record<string, string>; body: string }[]
  up: boolean
  /** What it asks for its report. */
  asksMicro: string
}

export type FakeWorld = {
  peers: Map<string, FakePeer>
  fetcher: PeerFetcher
  add(origin: string, options?: { keyring?: Keyring; offers?: readonly MeshOffer[] }): FakePeer
  /** Takes in peers of the hostile-peer fixture, at the network address given. */
  play(networkAddress: string, ...peers: PlayedPeer[]): void
}

export function fakeWorld(clock: Clock, database: Database): FakeWorld {
  const peers = new Map<string, FakePeer>()
  const played = new Map<string, Played>()
  const fetcher: PeerFetcher = {
    fetch: async (url, request) => {
      const { origin, pathname, search } = new URL(url)
      const other = played.get(origin)
      if (other !== undefined) return playedAnswer(other, url, request)
      const peer = peers.get(origin)
      if (peer === undefined || !peer.up) return refusedOutcome(url)
      const method = request.method ?? 'GET'
      peer.asked.push(`${method} ${pathname}${search}`)
      const altered = await peer.answer(`${pathname}${search}`, method)
      if (altered !== undefined) return altered
      if (pathname === keyDirectoryPath) return ok(url, 200, JSON.stringify(keyDirectory(peer.keyring)))
      if (pathname === announcePath) {
        peer.announced.push({ headers: { ...request.headers }, body: request.body ?? '' })
        return ok(url, 200, '{}')
      }
      if (pathname === meshPath)
        return ok(
          url,
          200,
          JSON.stringify({
            protocol: '1.0.4',
            node: { did: peer.did, statement: peer.statement() },
            peers: peer.known,
            silent: peer.silent,
          }),
        )
      if (pathname.startsWith('/v1/report/')) {
        const required = { accepts: [{ scheme: 'exact', amount: peer.asksMicro }] }
        const paymentRequired = Buffer.from(JSON.stringify(required)).toString('base64')
        const contentType = 'application/json'
        const signature = createResponseSigner(peer.keyring, { clock }).sign({
          ...{ status: 402, method, authority: new URL(origin).host, path: pathname, query: search || '?' },
          ...{ contentType, bodySha256: sha256('{}'), paymentRequired },
        })
        return ok(url, 402, '{}', { 'content-type': contentType, 'payment-required': paymentRequired, ...signature })
      }
      return ok(url, 404, '{}')
    },
  }
  const add: FakeWorld['add'] = (origin, options = {}) => {
    const keyring = options.keyring ?? createFixedKeyring(generateSigningKey(systemRng), 1_000)
    const deps = testDeps({ origin, database, clock, keyring, fetcher, offers: options.offers ?? [reportOffer] })
    let sequence = 0
    const peer: FakePeer = {
      origin,
      did: deps.self.did,
      keyring,
      deps,
      answer: () => undefined,
      statement: (given) => {
        sequence += 1
        return makeStatement(deps, given ?? clock.nowMs() + sequence).jws
      },
      asked: [],
      known: [],
      silent: [],
      announced: [],
      up: true,
      asksMicro: '20000',
    }
    peers.set(origin, peer)
    return peer
  }
  const play: FakeWorld['play'] = (networkAddress, ...more) => {
    for (const peer of more) played.set(peer.address, { peer, networkAddress })
  }
  return { peers, fetcher, add, play }
}

export function testDeps(options: {
  origin: string
  database: Database
  clock: Clock
  keyring: Keyring
  fetcher: PeerFetcher
  offers?: readonly MeshOffer[]
  seeds?: readonly string[]
  dns?: { names: readonly string[]; resolvers: readonly Resolver[] }
}): MeshDeps {
  const { clock, keyring, database, origin } = options
  const self = parseNodeAddress(origin)
  if (self === undefined) throw new Error(`not an address: ${origin}`)
  return {
    database,
    clock,
    rng: systemRng,
    log: silentLog,
    metrics: silentMetrics,
    keyring,
    signer: createResponseSigner(keyring, { clock }),
    claimNonce: (claim) => claimNonce(database, claim),
    fetcher: options.fetcher,
    settings: meshSettings({}, 'production'),
    seeds: (options.seeds ?? []).flatMap((seed) => parseNodeAddress(seed) ?? []),
    dnsSeeds: createDnsSeeds({ names: [], resolvers: [], clock, log: silentLog, ...options.dns }),
    self: { ...self, baseUrl: origin, name: 'Assay', networks: [{ network: 'eip155:8453', asset: '0x1' }] },
    offers: () => options.offers ?? [],
    registeredSql: () => 'false',
    takeDeclaration: async () => undefined,
    newestDeclarationMs: async () => 0,
    relatedParties: async () => new Map(),
  }
}

/** An announcement as its receiver sees it. */
export function announcementOf(
  peer: Pick<FakePeer, 'deps'>,
  to: string,
  body: { address: string; statement: string },
  alter: (call: AnnounceCall) => AnnounceCall = (call) => call,
) {
  const text = JSON.stringify(body)
  const authority = new URL(to).host
  const headers = signNodeRequest(peer.deps, { authority, path: announcePath, body: text })
  return alter({
    method: 'POST',
    received: { authority, path: announcePath, query: '?' },
    headers: new Map(Object.entries(headers)),
    rawBody: Buffer.from(text),
    remoteAddress: '192.0.2.9',
    signal: new AbortController().signal,
  })
}

export type AnnounceCall = {
  method: string
  received: { authority: string; path: string; query: string }
  headers: ReadonlyMap<string, string>
  rawBody: Uint8Array
  remoteAddress: string
  signal: AbortSignal
}

/** Nobody is known yet, and nothing was announced. Only the database is the same in every test. */
export async function emptyMesh(
  { database, owner }: Pick<TestDatabase, 'database' | 'owner'>,
  seeds: readonly string[] = [],
) {
  for (const table of ['mesh_peer', 'mesh_seed', 'mesh_evidence', 'nonce_claim'])
    await owner.query(`delete from ${table}`)
  await owner.query('update mesh_self set sequence = 0, statement = null')
  const clock = movableClock()
  const world = fakeWorld(clock, database)
  const origin = 'https://api.here.example.org'
  const deps = testDeps({ origin, database, clock, keyring: fixedKeyring(1), fetcher: world.fetcher, seeds })
  return { clock, world, deps }
}

/** The same with its rounds; `pass` lets each peer become due and makes a round with all that it begins. */
export async function meshWithRounds(...given: Parameters<typeof emptyMesh>) {
  const mesh = await emptyMesh(...given)
  const views = createMeshViews(mesh.deps)
  const rounds = createRounds(mesh.deps, views)
  const pass = async () => {
    mesh.clock.advance(mesh.deps.settings.visitEveryMs)
    await rounds.run()
    await rounds.idle()
  }
  return { ...mesh, views, rounds, pass }
}
