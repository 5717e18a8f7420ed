import { type PlayedPeer, playPeer, reportOf } from '@assay/protocol/mesh/hostile-peer.fixture'
import { parseNodeAddress } from '@assay/protocol/mesh/node-address'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { beforeEach, expect, test } from 'vitest'
import { admitSeen } from './admit-seen.ts'
import { recordCandidates } from './candidate-store.ts'
import type { MeshDeps } from './deps.ts'
import { createMeshDocuments } from './describe-mesh.ts'
import { pageBytesMax } from './limits.ts'
import { emptyMesh, type FakeWorld, type movableClock } from './mesh.fixture.ts'
import { createMeshViews } from './mesh-view.ts'
import { createPeerFinder } from './peer-finder.ts'
import { createRounds } from './run-round.ts'
import { addSeed } from './seed-store.ts'
import { findPeer, placedPeers } from './store.ts'

let clock: ReturnType<typeof movableClock>
let world: FakeWorld
let deps: MeshDeps
const db = await useTestDatabase()
beforeEach(async () => {
  ;({ clock, world, deps } = await emptyMesh(db))
})

const play = (address: string, offers = [reportOf('20000')]) => playPeer(address, { nowMs: clock.nowMs, offers })

/** As after a good visit or announcement. */
const arrive = (peer: PlayedPeer, networkAddress: string, at = deps) =>
  admitSeen(
    at,
    {
      ...{ did: peer.did, address: peer.address, foundBy: 'announce', sequence: peer.sequence },
      ...{ statement: peer.statement(), expiresAtMs: clock.nowMs() + 600_000, keys: [], keysReadAtMs: clock.nowMs() },
      ...{ networkAddress, latencyMs: 1, operator: undefined, capabilities: ['token.control.report'] },
    },
    clock.nowMs() + 60_000,
  )

async function answers() {
  const view = await createMeshViews(deps).refresh()
  const documents = createMeshDocuments(deps)
  const addresses: string[] = []
  for (let page = 1; ; page += 1) {
    const text = await documents(view, { capability: 'token.control.report', page })
    if (text === undefined) return { view, addresses }
    addresses.push(...JSON.parse(text).peers.map((peer: { address: string }) => peer.address))
  }
}

test('1,000 free identities push one honest peer out of no answer', async () => {
  const honest = Array.from({ length: 20 }, (_, i) => play(`https://node.honest${i}.example`))
  const early = honest.slice(0, 10)
  for (const [i, peer] of early.entries()) expect(await arrive(peer, `198.51.${i}.7`)).toBeUndefined()
  const sybil = (i: number) => arrive(play(`https://s${i}.sybil${i % 40}.example`), `203.0.113.${i % 250}`)
  for (let from = 0; from < 1_000; from += 50) await Promise.all(Array.from({ length: 50 }, (_, i) => sybil(from + i)))
  // A later one finds a place too.
  for (const [i, peer] of honest.slice(10).entries()) expect(await arrive(peer, `192.0.${i}.7`)).toBeUndefined()
  expect((await placedPeers(db.database, deps.registeredSql)).length).toBeLessThanOrEqual(deps.settings.peersMax)
  const { view, addresses } = await answers()
  expect(addresses).toEqual(expect.arrayContaining(honest.map((peer) => peer.address)))
  const brief = JSON.parse((await createMeshDocuments(deps)(view, { view: 'brief' })) ?? '{}')
  const named = brief.peers.map((peer: { address: string }) => peer.address)
  expect(named).toEqual(expect.arrayContaining(honest.map((peer) => peer.address)))
})

test('the limit of peers holds when many announce themselves at once', async () => {
  deps = { ...deps, settings: { ...deps.settings, peersMax: 8 } }
  const peers = Array.from({ length: 40 }, (_, i) => play(`https://node.n${i}.example`))
  // Half of them at one process of the node, each of the others at another.
  const process = (i: number) => (i % 2 === 0 ? deps : { ...deps, database: { ...deps.database } })
  await Promise.all(peers.map((peer, i) => arrive(peer, `198.51.${i}.7`, process(i))))
  expect(await placedPeers(db.database, deps.registeredSql)).toHaveLength(8)
})

test('many that arrive at once are taken in together, and one that the database does not take alone is left out', async () => {
  let transactions = 0
  const transaction: typeof deps.database.transaction = (work) => {
    transactions += 1
    return deps.database.transaction(work)
  }
  const counted = { ...deps, database: { ...deps.database, transaction } }
  const peers = Array.from({ length: 40 }, (_, i) => play(`https://node.n${i}.example`))
  const problems = await Promise.all(peers.map((peer, i) => arrive(peer, `198.51.${i}.7`, counted)))
  expect(problems.filter((problem) => problem !== undefined)).toEqual([])
  expect(transactions).toBeLessThan(5)
  const broken = { ...play('https://broken.example'), address: 'x' }
  const late = Array.from({ length: 3 }, (_, i) => play(`https://late.n${i}.example`))
  const outcomes = await Promise.allSettled([...late, broken].map((peer, i) => arrive(peer, `198.52.${i}.7`, counted)))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
  expect(await placedPeers(db.database, deps.registeredSql)).toHaveLength(43)
})

test('a seed has its place when all are taken, and keeps it', async () => {
  deps = { ...deps, settings: { ...deps.settings, peersMax: 4 } }
  for (let i = 0; i < 4; i += 1) await arrive(play(`https://s${i}.sybil.example`), '203.0.113.1')
  const seed = play('https://seed.sybil.example')
  const address = parseNodeAddress(seed.address)
  if (address === undefined) throw new Error('no address')
  await addSeed(db.database, seed.address, clock.nowMs())
  world.play('203.0.113.1', seed)
  const views = createMeshViews(deps)
  const rounds = createRounds(deps, views)
  await rounds.run()
  await rounds.idle()
  await rounds.stop()
  expect((await findPeer(db.database, seed.did))?.state).toBe('alive')
  for (let i = 0; i < 20; i += 1) await arrive(play(`https://late.other${i}.example`), `198.51.${i}.1`)
  expect((await findPeer(db.database, seed.did))?.state).toBe('alive')
  expect(await placedPeers(db.database, deps.registeredSql)).toHaveLength(4)
})

test('honest nodes behind one shared address are taken in, many names of one domain there are not', async () => {
  for (let i = 0; i < 30; i += 1)
    expect(await arrive(play(`https://api.shared${i}.example`), '198.51.100.1')).toBeUndefined()
  const names = await Promise.all(
    Array.from({ length: 20 }, (_, i) => arrive(play(`https://n${i}.crowd.example`), '198.51.100.1')),
  )
  expect(names.filter((problem) => problem === undefined)).toHaveLength(deps.settings.peersPerAddressMax)
})

test('fat statements make more pages and not larger ones, and a document is made once', async () => {
  const fat = Array.from({ length: 128 }, (_, i) =>
    reportOf('1', { capability: `fat.c${i}`, path: `/x${i}`, example: '/x' }),
  )
  for (let i = 0; i < 60; i += 1) await arrive(play(`https://api.fat${i}.example`, fat), `198.51.${i}.1`)
  const view = await createMeshViews(deps).refresh()
  const documents = createMeshDocuments(deps)
  const seen = new Set<string>()
  let page = 1
  for (; ; page += 1) {
    const text = await documents(view, { page })
    if (text === undefined) break
    expect(await documents(view, { page })).toBe(text)
    expect(text.length).toBeLessThan(pageBytesMax * 1.5)
    for (const peer of JSON.parse(text).peers) seen.add(peer.address)
  }
  expect(seen.size).toBe(60)
  expect(page).toBeGreaterThan(2)
})

test('names that one peer brings leave room for those of others, and are visited although many are alive', async () => {
  const limits = { nowMs: clock.nowMs(), retryMs: 1, candidatesMax: 256, perNamerMax: 16 }
  const note = async (name: string, namedBy: string) => {
    const address = parseNodeAddress(`https://${name}.example`)
    if (address === undefined) throw new Error('no address')
    const named = [{ ...address, sequence: 1 }]
    return (await recordCandidates(db.database, named, { ...limits, foundBy: 'gossip', namedBy })) === 1
  }
  let taken = 0
  for (let i = 0; i < 300; i += 1) if (await note(`flood${i}`, 'did:web:evil.example')) taken += 1
  expect(taken).toBe(16)
  expect(await note('honest', 'did:web:good.example')).toBe(true)
  for (let i = 0; i < 40; i += 1) await arrive(play(`https://api.alive${i}.example`), `198.51.${i}.1`)
  await db.owner.query('delete from mesh_peer where did like $1', ['%flood%'])
  clock.advance(deps.settings.visitEveryMs * 10)
  const honest = play('https://honest.example')
  world.play('198.51.100.9', honest)
  const rounds = createRounds(deps, createMeshViews(deps))
  await rounds.run()
  await rounds.idle()
  await rounds.stop()
  expect(honest.asked.length).toBeGreaterThan(0)
})

test('a peer whose names never answer may give one at a time, and one whose names do gives as many as before', async () => {
  const views = createMeshViews(deps)
  const rounds = createRounds(deps, views)
  const liar = world.add('https://liar.example.net')
  await addSeed(db.database, liar.origin, clock.nowMs())
  liar.known = Array.from({ length: 200 }, (_, i) => `ghost${i}.example.com`).map((host) => ({
    ...{ did: `did:web:${host}`, address: `https://${host}`, sequence: 1 },
  }))
  const candidatesOf = async (did: string) =>
    (await db.owner.query(`select did from mesh_peer where state = 'candidate' and named_by = $1`, [did])).rows.length
  const pass = async () => {
    clock.advance(deps.settings.visitEveryMs * 4)
    await rounds.run()
    await rounds.idle()
  }
  await pass()
  expect(await candidatesOf(liar.did)).toBe(16)
  for (let i = 0; i < 40; i += 1) await pass()
  expect(await candidatesOf(liar.did)).toBeLessThanOrEqual(1)
  const honest = world.add('https://honest.example.net')
  const known = Array.from({ length: 6 }, (_, i) => world.add(`https://n${i}.example.org`))
  honest.known = known.map(({ did, origin }) => ({ did, address: origin, sequence: 1 }))
  await addSeed(db.database, honest.origin, clock.nowMs())
  for (let i = 0; i < 4; i += 1) await pass()
  await rounds.stop()
  const shown = (await views.refresh()).peers.map(({ address }) => address)
  expect(shown).toEqual(expect.arrayContaining(known.map(({ origin }) => origin)))
})

test('a broad template wins no traffic, and a peer whose price was not seen comes after one whose was', async () => {
  const broad = play('https://api.broad.example', [
    reportOf('1', { path: '/v1/{a}/{b}', example: '/v1/x/y' }),
    reportOf('1', { path: '/v1/report/{address}', example: '/v1/report/0x1' }),
  ])
  const honest = play('https://api.honest.example')
  await arrive(broad, '198.51.1.1')
  await arrive(honest, '198.51.2.1')
  await db.owner.query('update mesh_peer set prices_checked_at = now(), asked_micro = $2 where did = $1', [
    honest.did,
    JSON.stringify({ 'GET token.control.report': '20000' }),
  ])
  const views = createMeshViews(deps)
  await views.refresh()
  const findPeer = createPeerFinder(views.latest)
  expect(findPeer('GET', '/v1/report/0x5')).toBe(`${honest.address}/v1/report/0x5`)
  expect(findPeer('GET', '/v1/other/0x5')).toBeUndefined()
})
