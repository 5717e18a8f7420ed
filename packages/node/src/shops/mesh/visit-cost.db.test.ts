import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { OutboundOutcome } from '../../outbound/index.ts'
import type { MeshDeps } from './deps.ts'
import { createMeshDocuments } from './describe-mesh.ts'
import { type FakePeer, type FakeWorld, meshWithRounds, type movableClock, ok, reportOffer } from './mesh.fixture.ts'
import type { MeshViews } from './mesh-view.ts'
import { makeStatement } from './own-statement.ts'
import { createRounds, type Rounds } from './run-round.ts'
import { addSeed } from './seed-store.ts'
import { findPeer } from './store.ts'
import { visitPeer } from './visit-peer.ts'

const other = 'https://other.example.net'

let clock: ReturnType<typeof movableClock>
let world: FakeWorld
let deps: MeshDeps
let views: MeshViews
let rounds: Rounds
let pass: () => Promise<void>
let seed: FakePeer
const db = await useTestDatabase()
beforeEach(async () => {
  ;({ clock, world, deps, views, rounds, pass } = await meshWithRounds(db, [other]))
  seed = world.add(other)
})
afterEach(() => rounds.stop())

/** From now on it says the same, and what else is given. */
function answerWith(peer: FakePeer, more: Record<string, unknown> = {}, statement = peer.statement()) {
  const document = { protocol: '1.0.4', node: { did: peer.did, statement }, peers: peer.known, ...more }
  peer.answer = (path) => (path.startsWith('/x402/mesh?') ? ok(path, 200, JSON.stringify(document)) : undefined)
  return statement
}

/** What the visit asked of the database. */
async function statementsOfVisit(peer: FakePeer): Promise<string[]> {
  const statements: string[] = []
  const query: typeof deps.database.query = (statement, values) => {
    statements.push(typeof statement === 'string' ? statement : statement.text)
    return deps.database.query(statement, values)
  }
  const row = await findPeer(db.database, peer.did)
  if (row === undefined) throw new Error('the peer is not known')
  const view = await views.refresh()
  const { signal } = new AbortController()
  const counted = { ...deps, database: { ...deps.database, query } }
  const shared = { silence: rounds.silence, again: () => {}, changed: views.outdated, signal }
  await visitPeer(counted, row, { own: view.own, view, pauseMs: deps.settings.visitEveryMs, ...shared })
  return statements
}

test('a visit that finds nothing new is one statement, however many names are given that are known already', async () => {
  const names = Array.from({ length: 6 }, (_, i) => world.add(`https://n${i}.example.com`))
  seed.known = names.map(({ did, origin }) => ({ did, address: origin, sequence: 1 }))
  const shown = async () => (await views.refresh()).peers
  for (let passes = 0; passes < 20 && (await shown()).length <= names.length; passes += 1) await pass()
  expect(await shown()).toHaveLength(1 + names.length)
  answerWith(seed, { silent: [names[0]?.did], evidence_until: 0, agents_until: 0 })
  await pass()
  const seenBefore = (await findPeer(db.database, seed.did))?.lastSeenAtMs ?? 0
  clock.advance(1_000)
  expect(await statementsOfVisit(seed)).toEqual([expect.stringContaining('update mesh_peer set state')])
  const row = await findPeer(db.database, seed.did)
  expect([row?.state, row?.failures, row?.lastSeenAtMs]).toEqual(['alive', 0, seenBefore + 1_000])
})

test('evidence and agents are read where there are newer ones, and from a node that does not say', async () => {
  await pass()
  const asked = async (more: Record<string, number>) => {
    answerWith(seed, more)
    seed.asked.length = 0
    clock.advance(deps.settings.evidenceEveryMs)
    await statementsOfVisit(seed)
    return seed.asked.filter((one) => one.includes('/evidence') || one.includes('declarations')).length
  }
  expect(await asked({})).toBe(2)
  expect(await asked({ evidence_until: 0, agents_until: 0 })).toBe(0)
  expect(await asked({ evidence_until: clock.nowMs(), agents_until: 0 })).toBe(2)
  expect(await asked({ evidence_until: 0, agents_until: clock.nowMs() })).toBe(2)
})

test('a statement that only lasts longer is not passed on while visits reach everybody in time; another price is', async () => {
  const passedOn = async (sinceMs: number) => {
    const text = await createMeshDocuments(deps)(await views.refresh(), { view: 'brief', since: sinceMs })
    return JSON.parse(text ?? '{}').changed.map(({ did }: { did: string }) => did)
  }
  answerWith(seed)
  await pass()
  // The first statement is of use to nobody: every node that knows the peer has read it there.
  expect(await passedOn(0)).toEqual([])
  const firstMs = clock.nowMs()
  clock.advance(1_000)
  const renewed = answerWith(seed)
  await statementsOfVisit(seed)
  expect((await findPeer(db.database, seed.did))?.statement).toBe(renewed)
  expect(await passedOn(firstMs)).toEqual([])
  clock.advance(1_000)
  const dearer = { ...seed.deps, offers: () => [{ ...reportOffer, price_micro: '30000' }] }
  answerWith(seed, {}, makeStatement(dearer, clock.nowMs()).jws)
  await statementsOfVisit(seed)
  expect(await passedOn(firstMs)).toEqual([seed.did])
})

test('names that hang hold up neither the peers that are known nor the names that others give', async () => {
  let release = () => {}
  const released = new Promise<OutboundOutcome>((resolve) => {
    release = () => resolve(ok('', 404, '{}'))
  })
  const ghosts = Array.from({ length: 30 }, (_, i) => world.add(`https://ghost${i}.example.com`))
  for (const ghost of ghosts) ghost.answer = () => released
  const [honest, fresh] = [world.add('https://honest.example.org'), world.add('https://fresh.example.org')]
  seed.known = ghosts.map(({ did, origin }) => ({ did, address: origin, sequence: 1 }))
  await addSeed(db.database, honest.origin, clock.nowMs())
  const turn = async () => {
    clock.advance(deps.settings.visitEveryMs)
    await rounds.run()
  }
  try {
    await pass()
    // Named after all the others.
    honest.known = [{ did: fresh.did, address: fresh.origin, sequence: 1 }]
    clock.advance(deps.settings.visitEveryMs)
    await statementsOfVisit(honest)
    await turn()
    await expect.poll(async () => (await findPeer(db.database, fresh.did))?.state).toBe('alive')
    expect(ghosts.filter(({ asked }) => asked.length > 0).length).toBeGreaterThan(10)
    const before = honest.asked.length
    await turn()
    await expect.poll(() => honest.asked.length).toBeGreaterThan(before)
  } finally {
    release()
  }
})

const often = { visitEveryMs: 1_000, backoffMaxMs: 2_000, visitsPerMinute: 40 }

/** Rounds of a node that visits every second. */
function quickRounds() {
  rounds = createRounds({ ...deps, settings: { ...deps.settings, ...often } }, views)
  return async (times: number) => {
    for (let done = 0; done < times; done += 1) {
      clock.advance(often.visitEveryMs)
      await rounds.run()
      await rounds.idle()
    }
  }
}

test('prices of the first peers are checked soon, those of many evenly over the time between two looks', async () => {
  const pass = quickRounds()
  seed.known = Array.from({ length: 30 }, (_, i) => world.add(`https://shop${i}.example`)).map(({ did, origin }) => ({
    ...{ did, address: origin, sequence: 1 },
  }))
  const seen = async () => {
    const { rows } = await db.owner.query<{ count: bigint }>('select count(prices_checked_at) as count from mesh_peer')
    return Number(rows[0]?.count)
  }
  await pass(40)
  const soon = await seen()
  expect(soon).toBeGreaterThanOrEqual(8)
  expect(soon).toBeLessThanOrEqual(12)
  clock.advance(deps.settings.priceCheckEveryMs)
  await pass(6)
  expect(await seen()).toBeGreaterThan(soon + 3)
})

test('names that nobody has cost so many visits in a minute and no more, and leave room for those that exist', async () => {
  const pass = quickRounds()
  const liars = Array.from({ length: 12 }, (_, i) => world.add(`https://liar${i}.example`))
  seed.known = liars.map(({ did, origin }) => ({ did, address: origin, sequence: 1 }))
  await pass(4)
  expect((await views.refresh()).peers).toHaveLength(13)
  const liesOf = (liar: number) =>
    Array.from({ length: 16 }, (_, i) => `ghost${i}.liar${liar}.example`).map((host) => ({
      ...{ did: `did:web:${host}`, address: `https://${host}`, sequence: 1 },
    }))
  for (const [place, liar] of liars.entries()) liar.known = liesOf(place)
  const asked: string[] = []
  const { fetch } = world.fetcher
  world.fetcher.fetch = (url, request) => {
    if (url.includes('//ghost')) asked.push(url)
    return fetch(url, request)
  }
  await pass(60)
  expect(asked.length).toBeGreaterThan(64)
  expect(asked.length).toBeLessThanOrEqual(64 + often.visitsPerMinute / 2)
  const real = world.add('https://real.example.org')
  seed.known = [{ did: real.did, address: real.origin, sequence: 1 }]
  await pass(40)
  expect((await findPeer(db.database, real.did))?.state).toBe('alive')
})
