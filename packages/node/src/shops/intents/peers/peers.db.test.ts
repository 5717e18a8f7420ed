import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { sha256 } from '@assay/till/kernel/bytes'
import { createFixedKeyring, createJwsSigner, privateKeyFromSeed } from '@assay/till/signing'
import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PeerReader } from '../../ports.ts'
import { closeBuckets, graceMs } from '../close-bucket.ts'
import { publishedEvent } from '../event-schema.ts'
import { fixedClock, insertSearches, intentDeps } from '../intents.fixture.ts'
import { eventsAfter, publishedBuckets } from '../store.ts'
import { mergePeers, type PeerBucket } from './merge-peers.ts'
import { peersFor, readPeers } from './read-peers.ts'
import { readSharedEvent, sharedEvent } from './shared-event.ts'

const minute = 60_000
const noon = Date.UTC(2026, 5, 1, 12)
const did = 'did:web:peer.example.org'
const address = 'https://peer.example.org'

/** A key of the peer, and the port that signs with it. */
function signerOf(seed: number, clock = fixedClock(noon)) {
  const key = privateKeyFromSeed(Buffer.alloc(32, seed).toString('base64url'))
  const keyring = createFixedKeyring(key, 0)
  const signer = createJwsSigner(keyring, { authority: 'peer.example.org', clock })
  const keys = keyring.keys().map(({ keyId, x }) => ({ kid: keyId, x }))
  return { jws: { sign: (payload: Json) => signer.sign(canonicalJson(payload)), verify: () => undefined }, keys }
}

let db: TestDatabase
beforeEach(async () => {
  db = await openTestDatabase()
})
afterEach(() => db.close())

const peer = signerOf(5)

/** What the peer shares of a bucket; every part can be altered. */
type Altered = { jws?: typeof peer.jws; ms?: number; synthetic?: boolean }
function shared(endsAtMs: number, counts: Record<string, number>, alter: Altered = {}) {
  const deps = { ...intentDeps(db.database, fixedClock(noon)), apiUrl: address, jws: alter.jws ?? peer.jws }
  const at = { startsAtMs: endsAtMs - (alter.ms ?? minute), endsAtMs, synthetic: alter.synthetic ?? false }
  const none = { bonded: null, error: null, ewma: null, event: '' }
  return sharedEvent(
    deps,
    { ...at, ...none, seq: 1, cluster: null, demand: null },
    Object.entries(counts).map(([cluster, demand], index) => ({ ...at, ...none, seq: index, cluster, demand })),
  )
}

const readerOf = (events: unknown, keys = peer.keys): PeerReader => ({
  read: async () => ({ value: { data: events }, address, keys }),
})

const kept = async () => (await db.database.query('select did, ends_at, counts from intent_peer_event')).rows

test('only what the peer signed for its own address is believed, byte for byte', async () => {
  const event = shared(noon, { '52': 40 })
  expect(readSharedEvent(event, { address, keys: peer.keys })?.counts).toEqual(new Map([['52', 40]]))
  expect(readSharedEvent(event.replace('40', '41'), { address, keys: peer.keys })).toBeUndefined()
  expect(readSharedEvent(event, { address, keys: signerOf(6).keys })).toBeUndefined()
  expect(readSharedEvent(event, { address: 'https://other.example.org', keys: peer.keys })).toBeUndefined()
  const { signature, ...bare } = JSON.parse(event) as { signature: string; data: unknown }
  expect(signature).toMatch(/\./)
  expect(readSharedEvent(JSON.stringify(bare), { address, keys: peer.keys })).toBeUndefined()
  expect(sha256(event)).toHaveLength(32)
})

test('unsigned, foreign, too long, early and repeated words of a peer are not kept', async () => {
  const clock = fixedClock(noon + 1_000)
  const counted: { name: string; labels: Record<string, string> }[] = []
  const deps = intentDeps(db.database, clock, { bucket_seconds: 60, peers: [did] }, counted)
  const outcomes = () => counted.filter(({ name }) => name === 'intent_peer_reads').map(({ labels }) => labels.outcome)
  await readPeers(deps, readerOf([shared(noon, { '52': 40 }, { jws: signerOf(6).jws }), 'no event', 7]))
  await readPeers(deps, readerOf([shared(noon, { '52': 40 }, { ms: 2 * minute })]))
  await readPeers(deps, readerOf([shared(noon + minute, { '52': 40 })]))
  await readPeers(deps, readerOf('nothing'))
  await readPeers(deps, { read: async () => undefined })
  expect(outcomes()).toEqual(['unsigned', 'other_buckets', 'early', 'malformed', 'unreachable'])
  expect(await kept()).toEqual([])
  await readPeers(deps, readerOf([shared(noon, { '52': 40, 'not-a-topic': 90 })]))
  await readPeers(deps, readerOf([shared(noon, { '52': 4_000 })]))
  expect(await kept()).toEqual([{ did, ends_at: new Date(noon), counts: { '52': 40 } }])
})

test('demand that a peer made up is shown by a demo alone, and what is long past is not kept', async () => {
  const counted: { name: string; labels: Record<string, string> }[] = []
  const deps = intentDeps(db.database, fixedClock(noon + 1_000), { bucket_seconds: 60, peers: [did] }, counted)
  const madeUp = readerOf([shared(noon, { '52': 40 }, { synthetic: true })])
  await readPeers(deps, madeUp)
  await readPeers(deps, readerOf([shared(noon - 24 * minute, { '52': 40 })]))
  expect(counted.map(({ labels }) => labels.outcome)).toEqual(['synthetic', 'old'])
  expect(await kept()).toEqual([])
  await readPeers({ ...deps, demo: true }, madeUp)
  expect(await kept()).toHaveLength(1)
})

test('a bucket shows own demand and that of peers apart, and what the options read is the own alone', async () => {
  const clock = fixedClock(noon + graceMs)
  const deps = intentDeps(db.database, clock, { bucket_seconds: 60, peers: [did] })
  await closeBuckets(deps)
  await insertSearches(deps, 60, 'stocks and bonds', noon + 5)
  clock.set(noon + minute + graceMs)
  // 391, 410 and 414 are what the searches above are about; 52 is known from the peer alone.
  await readPeers(deps, readerOf([shared(noon + minute, { '391': 25, '410': 1_000_000, '52': 5_000, '150': 3 })]))
  expect(await closeBuckets(deps)).toBe(1)
  const events = (await eventsAfter(db.database, 1, 100)).map(({ event }) => JSON.parse(event))
  for (const event of events) expect(publishedEvent.safeParse(event).error).toBeUndefined()
  const tick = (id: string) => events.find(({ subject }) => subject === id)?.data
  expect(tick('391')).toMatchObject({ own: { demand: tick('391').demand }, peers: { demand: 25, nodes: 1 } })
  // A liar counts for as much as was really seen here, and no more.
  expect(tick('410').peers).toEqual({ demand: tick('410').demand, nodes: 1 })
  expect(tick('414').peers).toEqual({ demand: 0, nodes: 0 })
  expect(events.at(-1)?.data.peers).toMatchObject({
    nodes: [{ did, state: 'counted' }],
    clusters: [{ id: '52', demand: 10, nodes: 1 }],
  })
  const cells = await publishedBuckets(db.database, { fromMs: noon, toMs: noon + minute })
  for (const { cluster, demand } of cells) expect(demand).toBe(tick(cluster).own.demand)
  expect(cells.map(({ cluster }) => cluster).sort()).toEqual(['391', '410', '414'])
})

test('without named peers nothing of them is said', async () => {
  const deps = intentDeps(db.database, fixedClock(noon + graceMs), { bucket_seconds: 60 })
  await closeBuckets(deps)
  expect(
    await peersFor(db.database, deps, new Map(), { endsAtMs: noon, plan: { bucketMs: minute, tiers: 3 } }),
  ).toBeUndefined()
  const [event] = await eventsAfter(db.database, 0, 10)
  expect(JSON.parse(event?.event ?? '').data.peers).toBeUndefined()
})

const rules = { k: 10, capTimes: 1, staleMs: 3 * minute }
const said = (value: number, minutesAgo: number, who = did): PeerBucket => ({
  did: who,
  endsAtMs: noon - minutesAgo * minute,
  counts: new Map([['52', value]]),
})

test('a peer that suddenly says ten times as much is left out, an old word and one below k too', () => {
  const own = new Map([['52', 1_000]])
  const habit = [1, 2, 3, 4, 5].map((ago) => said(50, ago))
  const merged = (...newest: PeerBucket[]) => mergePeers(own, new Map([[did, [...newest, ...habit]]]), noon, rules)
  expect(merged(said(90, 0)).clusters.get('52')).toEqual({ demand: 90, nodes: 1 })
  expect(merged(said(900, 0))).toMatchObject({ outliers: 1, clusters: new Map() })
  expect(mergePeers(own, new Map([[did, [said(90, 4)]]]), noon, rules)).toMatchObject({
    clusters: new Map(),
    peers: [{ did, state: 'stale' }],
  })
  expect(mergePeers(own, new Map([[did, [said(9, 0)]]]), noon, rules).clusters.size).toBe(0)
})

test('however much any number of peers says, each adds at most the own figure, or k where there is none', () => {
  const liars = new Map(Array.from({ length: 16 }, (_, n) => [`did:web:liar${n}`, [said(1_000_000_000, 0)]]))
  expect(mergePeers(new Map([['52', 30]]), liars, noon, rules).clusters.get('52')).toEqual({ demand: 480, nodes: 16 })
  expect(mergePeers(new Map(), liars, noon, rules).clusters.get('52')).toEqual({ demand: 160, nodes: 16 })
  expect(mergePeers(new Map([['52', 30]]), liars, noon, { ...rules, capTimes: 0 }).clusters.get('52')?.demand).toBe(160)
})
