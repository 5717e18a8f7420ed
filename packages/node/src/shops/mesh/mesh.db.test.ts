import { systemClock } from '@assay/till/kernel/clock'
import { systemRng } from '@assay/till/kernel/random'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startDnsServer } from '../../outbound/dns/dns-server.fixture.ts'
import { createDnsResolver } from '../../outbound/index.ts'
import type { MeshDeps } from './deps.ts'
import { describeMesh } from './describe-mesh.ts'
import { findMeshNode } from './find-node.ts'
import {
  announcementOf,
  emptyMesh,
  type FakeWorld,
  fixedKeyring,
  type movableClock,
  reportOffer,
  testDeps,
} from './mesh.fixture.ts'
import { createMeshViews, type MeshViews } from './mesh-view.ts'
import { ownStatement } from './own-statement.ts'
import { createPeerFinder } from './peer-finder.ts'
import { receiveAnnouncement } from './receive-announcement.ts'
import { createRounds, type Rounds } from './run-round.ts'
import { addSeed } from './seed-store.ts'
import { findPeer } from './store.ts'
import { createStrangerLimit } from './stranger-limit.ts'

const here = 'https://api.here.example.org'
const other = 'https://other.example.net'

let clock: ReturnType<typeof movableClock>
let world: FakeWorld
let deps: MeshDeps
let views: MeshViews
let rounds: Rounds
const db = await useTestDatabase()
beforeEach(async () => {
  ;({ clock, world, deps } = await emptyMesh(db, [other]))
  views = createMeshViews(deps)
  rounds = createRounds(deps, views)
})
afterEach(() => rounds.stop())

const peers = async () => (await views.refresh()).peers
const addresses = async () => (await peers()).map((peer) => peer.address)
/** A round, and all that it began. */
async function round() {
  await rounds.run()
  await rounds.idle()
}
/** As many rounds as it takes for everybody to be visited once more. */
async function pass(times = 1) {
  for (let i = 0; i < times; i += 1) {
    clock.advance(deps.settings.visitEveryMs)
    await round()
  }
}
/** A visit that writes the peer's row at that moment defers the check of its prices to the next round. */
async function priceCheck() {
  clock.advance(deps.settings.priceCheckEveryMs)
  const checked = async () =>
    (await db.owner.query<{ at: Date }>('select max(prices_checked_at) as at from mesh_peer')).rows[0]?.at?.getTime() ??
    0
  const dueMs = clock.nowMs()
  for (let rounds = 0; rounds < 20 && (await checked()) < dueMs; rounds += 1) await pass()
}
const unlimited = { admit: () => true }
const announce = (peer: ReturnType<FakeWorld['add']>, body = { address: peer.origin, statement: peer.statement() }) =>
  receiveAnnouncement(deps, unlimited, body, announcementOf(peer, here, body))

test('a seed is visited, believed for what it signed, notified of this node, and leads to the peers it knows', async () => {
  const seed = world.add(other)
  const third = world.add('https://third.example.com')
  seed.known = [{ did: third.did, address: third.origin, sequence: 1 }]
  await round()
  expect(await addresses()).toEqual([other])
  expect(seed.announced).toHaveLength(1)
  await pass()
  expect((await addresses()).sort()).toEqual([other, third.origin])
  const [node] = await peers()
  expect(node).toMatchObject({ state: 'alive', health: 1, recommended: true })
  expect(await findMeshNode(db.database, third.did, clock.nowMs())).toMatchObject({
    url: third.origin,
    keys: [{ keyId: third.keyring.active().keyId }],
    capabilities: ['token.control.report'],
  })
})

test('nodes that a domain names in its SRV records are joined, and stay known while DNS is silent', async () => {
  const zone = new Map([
    [
      '_x402._tcp.mesh.example',
      [
        { priority: 2, port: 8443, target: 'second.example.com' },
        { priority: 1, port: 443, target: 'first.example.com' },
        { priority: 1, port: 443, target: '127.0.0.1' },
        { priority: 0, port: 0, target: '' },
      ],
    ],
  ])
  const dns = await startDnsServer(zone)
  const resolver = createDnsResolver({ server: '127.0.0.1', port: dns.port, clock: systemClock, rng: systemRng })
  const named = testDeps({
    ...{ origin: here, database: db.database, clock, keyring: fixedKeyring(1), fetcher: world.fetcher },
    dns: { names: ['mesh.example'], resolvers: [resolver] },
  })
  const turns = createRounds(named, createMeshViews(named))
  const turn = async () => {
    await turns.run()
    await turns.idle()
  }
  for (const origin of ['https://first.example.com', 'https://second.example.com:8443']) world.add(origin)
  try {
    await turn()
    expect(named.dnsSeeds.current().map(({ origin }) => origin)).toEqual([
      'https://first.example.com',
      'https://second.example.com:8443',
    ])
    await turn()
    expect((await addresses()).sort()).toEqual(['https://first.example.com', 'https://second.example.com:8443'])
    expect(dns.asked).toEqual(['_x402._tcp.mesh.example'])
  } finally {
    await dns.stop()
  }
  clock.advance(3_600_000)
  await turn()
  expect(named.dnsSeeds.current()).toHaveLength(2)
  await turns.stop()
})

test('a seed of the command line is joined as one of the configuration', async () => {
  const late = world.add('https://late.example.com')
  await addSeed(db.database, late.origin, clock.nowMs())
  await round()
  expect(await addresses()).toEqual([late.origin])
})

test('a node whose peers do not answer for long raises an alarm, once, and again after they were there', async () => {
  const peer = world.add(other)
  peer.up = false
  const alarms: string[] = []
  const gauges: number[] = []
  const seen = createRounds(
    {
      ...deps,
      metrics: {
        ...deps.metrics,
        count: (name, labels) => void (name === 'alarms' && alarms.push(labels?.alarm ?? '')),
        gauge: (name, value) => void (name === 'mesh_peers' && gauges.push(value)),
      },
    },
    views,
  )
  const turns = async (times: number) => {
    for (let turn = 0; turn < times; turn += 1) {
      clock.advance(deps.settings.visitEveryMs)
      await seen.run()
      await seen.idle()
    }
  }
  await turns(19)
  expect([alarms, new Set(gauges)]).toEqual([[], new Set([0])])
  await turns(30)
  expect(alarms).toEqual(['mesh_alone'])
  await seen.stop()
})

test('the own sequence grows even when the clock goes back, and a statement is kept while it is good', async () => {
  const one = await ownStatement(deps)
  expect((await ownStatement(deps)).jws).toBe(one.jws)
  clock.advance(-3_600_000)
  const two = await ownStatement(deps)
  expect(two.statement.sequence).toBeGreaterThan(one.statement.sequence)
})

test('a dead peer is doubted, then dropped, and comes back when it answers again', async () => {
  const seed = world.add(other)
  await round()
  seed.up = false
  await pass()
  expect(await peers()).toMatchObject([{ state: 'suspect', recommended: false }])
  clock.advance(deps.settings.deadAfterMs)
  await pass()
  expect(await addresses()).toEqual([])
  seed.up = true
  clock.advance(deps.settings.backoffMaxMs)
  await round()
  expect(await addresses()).toEqual([other])
})

test('a peer that another node got no answer from is asked at once, dropped if it is silent, and left alone if it answers', async () => {
  const teller = world.add(other)
  const [gone, there] = [world.add('https://gone.example.com'), world.add('https://there.example.com')]
  teller.known = [gone, there].map(({ did, origin }) => ({ did, address: origin, sequence: 1 }))
  for (let rounds = 0; rounds < 20 && (await peers()).length < 3; rounds += 1) await pass()
  const visits = () => there.asked.filter((asked) => asked.startsWith('GET /x402/mesh?')).length
  const before = visits()
  // As with so many peers that each is visited rarely.
  const rarely = (...dids: string[]) =>
    db.owner.query(`update mesh_peer set next_visit_at = now() + interval '100 years' where did = any($1)`, [dids])
  await rarely(gone.did, there.did)
  gone.up = false
  clock.advance(deps.settings.deadAfterMs)
  await pass(2)
  expect([(await findPeer(db.database, gone.did))?.state, visits()]).toEqual(['alive', before])
  teller.silent = [gone.did, there.did, 'did:web:nobody.example', 'no did']
  await pass(2)
  const after = visits()
  expect(after).toBeGreaterThan(before)
  // It answered recently, so its name costs nothing now.
  await rarely(there.did)
  await db.owner.query(`update mesh_peer set next_visit_at = 'epoch' where did = $1`, [teller.did])
  await round()
  await round()
  expect(visits()).toBe(after)
  await pass(2)
  expect((await addresses()).sort()).toEqual([other, there.origin])
  const { silent } = await views.refresh()
  expect(silent).toEqual([gone.did])
  expect(JSON.parse(describeMesh(deps, await views.refresh(), {}, { changed: [], untilMs: 0 }) ?? '{}').silent).toEqual(
    silent,
  )
})

test('a node that misses a peer reports it to others at once, and one that hears of it asks the peer itself', async () => {
  const teller = world.add(other)
  const [gone, there] = [world.add('https://gone.example.com'), world.add('https://there.example.com')]
  teller.known = [gone, there].map(({ did, origin }) => ({ did, address: origin, sequence: 1 }))
  for (let rounds = 0; rounds < 20 && (await peers()).length < 3; rounds += 1) await pass()
  await db.owner.query(`update mesh_peer set next_visit_at = now() + interval '100 years'`)
  clock.advance(deps.settings.deadAfterMs)
  const visits = (peer: ReturnType<FakeWorld['add']>) =>
    peer.asked.filter((asked) => asked.startsWith('GET /x402/mesh?')).length
  const before = visits(there)
  gone.up = false
  const reported = () =>
    [teller, there].flatMap(({ announced }) => announced.flatMap(({ body }) => JSON.parse(body).silent ?? []))
  const body = { address: teller.origin, statement: (await findPeer(db.database, teller.did))?.statement ?? '' }
  const word = { ...body, silent: [gone.did, there.did, 'did:web:nobody.example', 'no did'] }
  expect(await announce(teller, word)).toMatchObject({ accepted: true })
  await rounds.silence.onReported(word.silent)
  await rounds.idle()
  expect(visits(there)).toBe(before + 1)
  expect((await findPeer(db.database, gone.did))?.state).toBe('suspect')
  expect(reported()).toEqual([gone.did, gone.did])
  // Said again, it costs nothing: both were tried just now.
  await rounds.silence.onReported(word.silent)
  await rounds.idle()
  expect([visits(there), reported().length]).toEqual([before + 1, 2])
})

test('two sides of a partition drop each other and find each other again', async () => {
  const left = world.add(other)
  const right = world.add('https://right.example.com')
  left.known = [{ did: right.did, address: right.origin, sequence: 1 }]
  await round()
  await pass()
  right.up = false
  clock.advance(deps.settings.deadAfterMs)
  await pass(3)
  expect(await addresses()).toEqual([other])
  right.up = true
  clock.advance(deps.settings.visitEveryMs * 3)
  // The other side has spoken since: others name it again, so nobody waits for the end of the pause.
  left.known = [{ did: right.did, address: right.origin, sequence: clock.nowMs() + 1_000 }]
  await pass(2)
  expect((await addresses()).sort()).toEqual([other, right.origin])
})

test('a peer that stalls costs its own visit only', async () => {
  const slow = world.add(other)
  const quick = world.add('https://quick.example.com')
  await addSeed(db.database, quick.origin, clock.nowMs())
  let release = () => {}
  slow.answer = async (path) => {
    if (path === '/x402/mesh') await new Promise<void>((resolve) => (release = resolve))
    return { status: 'failed', reason: 'timeout', detail: 'the time was up', url: path, retryable: true }
  }
  await rounds.run()
  await expect.poll(addresses).toEqual([quick.origin])
  release()
})

test.each([
  [
    'has run out',
    (peer: ReturnType<FakeWorld['add']>) => {
      const old = peer.statement()
      clock.advance(3_600_000)
      return old
    },
  ],
  ['is of another node', () => world.add('https://victim.example.com').statement()],
  ['is no statement', () => 'a.b.c'],
])('a statement that %s is not believed', async (_, statement) => {
  const seed = world.add(other)
  const given = statement(seed)
  seed.statement = () => given
  await round()
  expect(await addresses()).toEqual([])
})

test('an older statement than the last one is refused: nobody can bring back what a node once said', async () => {
  const seed = world.add(other)
  const first = seed.statement(5_000)
  seed.statement = () => first
  await round()
  const older = world.add(other, { keyring: seed.keyring }).statement(4_999)
  seed.statement = () => older
  world.peers.set(other, seed)
  await pass()
  expect(await findPeer(db.database, seed.did)).toMatchObject({ sequence: 5_000, statement: first, failures: 1 })
})

test('an announcement is taken once, from the node itself, for this node, in its own words', async () => {
  const peer = world.add('https://new.example.com')
  const body = { address: peer.origin, statement: peer.statement() }
  const call = announcementOf(peer, here, body)
  const answer = await receiveAnnouncement(deps, unlimited, body, call)
  expect(answer).toMatchObject({ did: peer.did, accepted: true })
  expect(await addresses()).toEqual([peer.origin])
  await expect(receiveAnnouncement(deps, unlimited, body, call)).rejects.toMatchObject({ code: 'proof_invalid' })
})

test('a node that impersonates another one is refused: the keys are those of the address', async () => {
  const victim = world.add('https://victim.example.com')
  const thief = world.add('https://thief.example.com')
  // In the victim's name, with the thief's key.
  const lie = { address: victim.origin, statement: thief.statement() }
  await expect(receiveAnnouncement(deps, unlimited, lie, announcementOf(thief, here, lie))).rejects.toMatchObject({
    code: 'proof_invalid',
  })
  // In the thief's name, with the victim's words.
  await expect(announce(thief, { address: thief.origin, statement: victim.statement() })).rejects.toMatchObject({
    code: 'proof_invalid',
  })
  // The victim's announcement to somebody else, sent on to us.
  const body = { address: victim.origin, statement: victim.statement() }
  const misdirected = announcementOf(victim, 'https://somewhere.example.com', body)
  const received = { ...misdirected.received, authority: new URL(here).host }
  await expect(receiveAnnouncement(deps, unlimited, body, { ...misdirected, received })).rejects.toMatchObject({
    code: 'proof_invalid',
  })
  expect(await addresses()).toEqual([])
})

test('an unsigned, changed, stale or too long lived announcement is refused before anything is fetched', async () => {
  const peer = world.add('https://new.example.com')
  const body = { address: peer.origin, statement: peer.statement() }
  const good = announcementOf(peer, here, body)
  const refuse = (call: typeof good, given = body) =>
    expect(receiveAnnouncement(deps, unlimited, given, call)).rejects.toMatchObject({
      code: expect.stringMatching(/^(proof_required|proof_invalid|input_invalid)$/),
    })
  await refuse({ ...good, headers: new Map() })
  await refuse({ ...good, rawBody: Buffer.from('{}') })
  await refuse(good, { ...body, address: 'http://new.example.com' })
  await refuse(good, { ...body, address: 'https://new.example.com/path' })
  const alter = (from: RegExp, to: string) => {
    const headers = new Map(good.headers)
    headers.set('signature-input', String(headers.get('signature-input')).replace(from, to))
    return { ...good, headers }
  }
  await refuse(alter(/ "content-digest"/, ''))
  await refuse(alter(/tag="x402-mesh"/, 'tag="x402-response"'))
  await refuse(alter(/expires=\d+/, 'expires=9999999999'))
  expect(peer.asked).toEqual([])
  clock.advance(600_000)
  await refuse(good)
  expect(peer.asked).toEqual([])
})

test('the node is never its own peer, under any name', async () => {
  const twin = world.add('https://twin.example.com', { keyring: deps.keyring })
  await expect(announce(twin)).rejects.toMatchObject({ code: 'proof_invalid' })
  const self = world.add(here)
  await expect(announce(self)).rejects.toMatchObject({ code: 'proof_invalid' })
  const seed = world.add(other)
  seed.known = [
    { did: deps.self.did, address: here, sequence: 1 },
    { did: twin.did, address: twin.origin, sequence: 1 },
  ]
  await round()
  await pass(2)
  expect(await addresses()).toEqual([other])
  expect(self.asked.filter((asked) => asked.startsWith('GET /x402/mesh'))).toEqual([])
})

test('a flood of strangers is held off before anything is fetched, and known nodes still get through', async () => {
  const known = world.add('https://known.example.com')
  await announce(known)
  const limit = createStrangerLimit(clock, 8)
  let refusals = 0
  for (let i = 0; i < 40; i += 1) {
    const stranger = world.add(`https://s${i}.example.com`)
    const body = { address: stranger.origin, statement: stranger.statement() }
    const call = announcementOf(stranger, here, body)
    await receiveAnnouncement(deps, limit, body, call).catch((error: { code: string }) => {
      expect(error.code).toBe('rate_limited')
      expect(stranger.asked).toEqual([])
      refusals += 1
    })
  }
  expect(refusals).toBe(38)
  const body = { address: known.origin, statement: known.statement() }
  await expect(receiveAnnouncement(deps, limit, body, announcementOf(known, here, body))).resolves.toBeDefined()
})

test('a peer that lists thousands is believed up to a limit, and names that do not fit their address are dropped', async () => {
  const seed = world.add(other)
  seed.known = Array.from({ length: 5_000 }, (_, i) => ({
    did: `did:web:n${i}.example.com`,
    address: `https://n${i}.example.com`,
    sequence: 1,
  }))
  await round()
  const count = async () =>
    Number((await db.database.query<{ n: bigint }>('select count(*) as n from mesh_peer')).rows[0]?.n)
  expect(await count()).toBe(1 + 16)
  seed.known = [{ did: 'did:web:bank.example.com', address: 'https://evil.example.com', sequence: 1 }]
  await pass()
  expect(await findPeer(db.database, 'did:web:bank.example.com')).toBeUndefined()
  // Those that never answered are deleted.
  for (let i = 0; i < 6; i += 1) await pass(i * 4)
  expect(await count()).toBe(1)
})

test('many names of one domain at one network address cannot fill the list', async () => {
  for (let i = 0; i < deps.settings.peersPerAddressMax; i += 1) await announce(world.add(`https://p${i}.example.com`))
  await expect(announce(world.add('https://toomany.example.com'))).rejects.toMatchObject({ code: 'proof_invalid' })
  expect(await addresses()).toHaveLength(deps.settings.peersPerAddressMax)
})

test('a peer that asks another price than it states is marked, not recommended, and cleared when it is honest', async () => {
  const seed = world.add(other)
  seed.asksMicro = '90000'
  await round()
  await priceCheck()
  const [liar] = await peers()
  expect(liar).toMatchObject({
    recommended: false,
    priceMismatches: [{ capability: 'token.control.report', stated_micro: '20000', asked_micro: '90000' }],
  })
  const findPeer = createPeerFinder(views.latest)
  expect(findPeer('GET', '/v1/report/0x5')).toBeUndefined()
  const shown = JSON.parse(describeMesh(deps, await views.refresh(), {}) ?? '{}')
  expect(shown.peers[0]).toMatchObject({ price_mismatch: true, recommended: false })
  seed.asksMicro = '20000'
  await priceCheck()
  expect(await peers()).toMatchObject([{ recommended: true, priceMismatches: [] }])
  expect(findPeer('GET', '/v1/report/0x5')).toBe(`${other}/v1/report/0x5`)
})

test.each(['first', 'second'])(
  'a manifest that says another price on its %s page counts as a lie too',
  async (page) => {
    const seed = world.add(other)
    const { capability, method } = reportOffer
    const lie = { offers: [{ capability, method, price_micro: '1' }], next_page: null }
    const honest = { offers: [], next_page: `${other}/.well-known/x402?page=2` }
    seed.answer = (path) =>
      path.startsWith('/.well-known/x402')
        ? {
            status: 'ok',
            httpStatus: 200,
            headers: new Map(),
            bytes: Buffer.from(JSON.stringify(page === 'second' && !path.endsWith('=2') ? honest : lie)),
            cut: false,
            url: path,
            redirectedFrom: [],
            address: '192.0.2.1',
            secure: true,
          }
        : undefined
    await round()
    await priceCheck()
    expect((await peers())[0]?.priceMismatches).toMatchObject([{ reason: 'manifest_differs', asked_micro: '1' }])
  },
)

test('the cheapest healthy peer is named for a path, and no template takes every path', async () => {
  const greedy = { ...reportOffer, path: '/{anything}', price_micro: '1' }
  world.add(other)
  const cheap = world.add('https://cheap.example.com', { offers: [{ ...reportOffer, price_micro: '1000' }, greedy] })
  cheap.asksMicro = '1000'
  await addSeed(db.database, cheap.origin, clock.nowMs())
  await round()
  await views.refresh()
  const findPeer = createPeerFinder(views.latest)
  const named = () => findPeer('GET', '/v1/report/0x5')
  // Which offer of a peer is checked is drawn, and a price that was seen comes before one that was only stated.
  for (let looks = 0; looks < 20 && named() !== `${cheap.origin}/v1/report/0x5`; looks += 1) {
    await priceCheck()
    await views.refresh()
  }
  expect(named()).toBe(`${cheap.origin}/v1/report/0x5`)
  expect(findPeer('POST', '/v1/report/0x5')).toBeUndefined()
  expect(findPeer('GET', '/anything')).toBeUndefined()
  expect(findPeer('GET', '/v1/report/')).toBeUndefined()
})
