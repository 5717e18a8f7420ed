import { type PlayedPeer, playPeer, reportOf } from '@assay/protocol/mesh/hostile-peer.fixture'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { beforeEach, expect, test } from 'vitest'
import { checkPrices } from './check-prices.ts'
import type { MeshDeps } from './deps.ts'
import { emptyMesh, type FakeWorld, type movableClock } from './mesh.fixture.ts'
import { createMeshViews } from './mesh-view.ts'
import { createPeerFinder } from './peer-finder.ts'
import { createRounds } from './run-round.ts'
import { addSeed } from './seed-store.ts'
import { findPeer } from './store.ts'

let clock: ReturnType<typeof movableClock>
let world: FakeWorld
let deps: MeshDeps
const db = await useTestDatabase()
beforeEach(async () => {
  ;({ clock, world, deps } = await emptyMesh(db))
})

const play = (name: string, offers = [reportOf('20000')]) =>
  playPeer(`https://api.${name}.example`, { nowMs: clock.nowMs, offers })

/** Joins them, reads the prices of each, and names the best for a path. */
async function bestFor(path: string, ...peers: PlayedPeer[]): Promise<string | undefined> {
  for (const [i, peer] of peers.entries()) {
    world.play(`198.51.${i}.1`, peer)
    await addSeed(db.database, peer.address, clock.nowMs())
  }
  const views = createMeshViews(deps)
  const rounds = createRounds(deps, views)
  await rounds.run()
  await rounds.idle()
  await rounds.stop()
  for (const { did } of peers) {
    const row = await findPeer(db.database, did)
    if (row !== undefined) await checkPrices(deps, row, new AbortController().signal)
  }
  await views.refresh()
  return createPeerFinder(views.latest)('GET', path)
}

test('a price of 0 that is not free, a range and a 404 win nothing against a price that was seen', async () => {
  const honest = play('honest')
  const zero = play('zero', [reportOf('0')])
  zero.asksMicro = () => '90000'
  const range = play('range', [reportOf('1', { price_micro_max: '1000000' })])
  range.asksMicro = () => '900000'
  const gone = play('gone', [reportOf('0')])
  gone.lie = (_, path) => (path.startsWith('/v1/report') ? Response.json({}, { status: 404 }) : undefined)
  expect(await bestFor('/v1/report/0x5', zero, range, gone, honest)).toBe(`${honest.address}/v1/report/0x5`)
  const reasons = async (peer: PlayedPeer) =>
    (await findPeer(db.database, peer.did))?.priceMismatches.map(({ reason }) => reason)
  expect(await reasons(zero)).toEqual(['asks_another_price'])
  expect(await reasons(gone)).toEqual([])
  expect(await findPeer(db.database, range.did)).toMatchObject({
    askedMicro: { 'GET token.control.report': '900000' },
    priceMismatches: [],
  })
})

test('a free look-up of a thing that a peer does not have costs it no recommendation; a sale that is not there does', async () => {
  const lookUp = { capability: 'citations.read', path: '/v1/attestations/{id}', example: '/v1/attestations/1' }
  const honest = play('honest', [reportOf('0', lookUp), reportOf('20000')])
  honest.lie = (_, path) => (path.startsWith('/v1/attestations') ? Response.json({}, { status: 404 }) : undefined)
  const empty = play('empty', [reportOf('10000')])
  empty.lie = (_, path) => (path.startsWith('/v1/report') ? Response.json({}, { status: 404 }) : undefined)
  expect(await bestFor('/v1/report/0x5', honest, empty)).toBe(`${honest.address}/v1/report/0x5`)
  expect((await findPeer(db.database, honest.did))?.priceMismatches).toEqual([])
  expect((await findPeer(db.database, empty.did))?.priceMismatches).toMatchObject([{ reason: 'not_offered' }])
})

test('a price check cannot be distinguished from a buyer by what it sends', async () => {
  const two = play('two')
  two.asksMicro = (request) => (/mesh|assay/i.test(JSON.stringify([...request.headers])) ? '20000' : '90000')
  await bestFor('/v1/report/0x5', two)
  expect((await findPeer(db.database, two.did))?.priceMismatches).toMatchObject([{ asked_micro: '90000' }])
  const looks = two.asked.filter(({ path }) => path.startsWith('/v1/report'))
  expect(looks.length).toBeGreaterThan(0)
  expect(looks.every(({ userAgent }) => userAgent === 'node')).toBe(true)
})
