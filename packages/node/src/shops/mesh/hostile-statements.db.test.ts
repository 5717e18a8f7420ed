import { type PlayedPeer, playPeer, reportOf } from '@assay/protocol/mesh/hostile-peer.fixture'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { MeshDeps } from './deps.ts'
import { type FakeWorld, meshWithRounds, type movableClock } from './mesh.fixture.ts'
import type { MeshViews } from './mesh-view.ts'
import { ownStatement } from './own-statement.ts'
import { createPeerFinder } from './peer-finder.ts'
import type { Rounds } from './run-round.ts'
import { findPeer, saveSeen } from './store.ts'

const evil = 'https://evil.example.net'
const victim = 'https://victim.example.com'

let clock: ReturnType<typeof movableClock>
let world: FakeWorld
let deps: MeshDeps
let views: MeshViews
let rounds: Rounds
let pass: () => Promise<void>
let peer: PlayedPeer
const db = await useTestDatabase()
beforeEach(async () => {
  ;({ clock, world, deps, views, rounds, pass } = await meshWithRounds(db, [evil]))
  peer = playPeer(evil, { nowMs: clock.nowMs, offers: [reportOf('20000', { site: 'base' })] })
  world.play('192.0.2.1', peer, playPeer(victim, { nowMs: clock.nowMs }))
})
afterEach(() => rounds.stop())
const shown = async () => (await views.refresh()).peers

test('the same sequence again with another base_url is refused, and nobody is sent there', async () => {
  await pass()
  expect(await shown()).toMatchObject([{ address: evil, recommended: true }])
  peer.content = { ...peer.content, base_url: victim }
  await pass()
  const [seen] = await shown()
  expect(seen).toMatchObject({ content: { base_url: evil }, recommended: false })
  expect((await findPeer(db.database, peer.did))?.failures).toBe(1)
  expect(createPeerFinder(views.latest)('GET', '/v1/report/0x5')).toBeUndefined()
})

test('a key that is called as one of the second address is not that key', async () => {
  const target = playPeer('https://target.example.com', { nowMs: clock.nowMs })
  const renamed = playPeer(evil, { nowMs: clock.nowMs, kid: target.kid })
  renamed.content = { ...renamed.content, base_url: target.address }
  world.play('192.0.2.1', target, renamed)
  await pass()
  expect(await shown()).toEqual([])
})

test('a second address is proven again when the keys are read again, also under the same words', async () => {
  const twin = playPeer('https://base.example.net', { nowMs: clock.nowMs })
  twin.directory = peer.directory
  world.play('192.0.2.1', twin)
  peer.content = { ...peer.content, base_url: twin.address }
  const kept = peer.statement({ expires_at: new Date(clock.nowMs() + 3_000_000).toISOString() })
  peer.statement = () => kept
  await pass()
  expect(await shown()).toMatchObject([{ address: evil, recommended: true }])
  twin.directory = () => ({ keys: [] })
  clock.advance(300_000)
  await pass()
  expect(await shown()).toMatchObject([{ recommended: false }])
})

test.each([
  ['of the greatest number there is', () => Number.MAX_SAFE_INTEGER],
  ['of tomorrow', () => clock.nowMs() + 86_400_000],
])('a sequence %s is refused, for nobody could follow it', async (_, sequence) => {
  peer.sequence = sequence()
  await pass()
  expect(await shown()).toEqual([])
  peer.sequence = clock.nowMs()
  clock.advance(deps.settings.backoffMaxMs)
  await pass()
  expect(await shown()).toHaveLength(1)
})

test('a plain http base_url of an https node is refused', async () => {
  peer.content = { ...peer.content, base_url: 'http://127.0.0.1:4020' }
  await pass()
  expect(await shown()).toEqual([])
})

test('two statements of one sequence that arrive at once leave one, and it stays', async () => {
  await pass()
  const row = await findPeer(db.database, peer.did)
  if (row?.statement === undefined) throw new Error('not seen')
  const times = { expiresAtMs: clock.nowMs() + 60_000, nextVisitMs: clock.nowMs() }
  const seen = { ...row, statement: row.statement, capabilities: [], ...times }
  const other = peer.statement({ name: 'Other' })
  expect(await saveSeen(db.database, [{ ...seen, statement: other }], clock.nowMs())).toEqual(new Set())
  expect(await saveSeen(db.database, [seen], clock.nowMs())).toEqual(new Set([peer.did]))
  expect((await findPeer(db.database, peer.did))?.statement).toBe(row.statement)
})

test('a node whose clock was once years ahead is believed again', async () => {
  clock.advance(86_400_000 * 3_650)
  await ownStatement(deps)
  clock.advance(-86_400_000 * 3_650)
  const own = await ownStatement(deps)
  expect(own.statement.sequence).toBeLessThanOrEqual(clock.nowMs())
})
