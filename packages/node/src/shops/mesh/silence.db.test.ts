import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { OutboundOutcome } from '../../outbound/index.ts'
import type { MeshDeps } from './deps.ts'
import { type FakePeer, type FakeWorld, meshWithRounds, type movableClock } from './mesh.fixture.ts'
import type { Rounds } from './run-round.ts'
import { findPeer } from './store.ts'

const other = 'https://other.example.net'

let clock: ReturnType<typeof movableClock>
let world: FakeWorld
let deps: MeshDeps
let rounds: Rounds
let pass: () => Promise<void>
let seed: FakePeer
const db = await useTestDatabase()
beforeEach(async () => {
  ;({ clock, world, deps, rounds, pass } = await meshWithRounds(db, [other]))
  seed = world.add(other)
})
afterEach(() => rounds.stop())

const fails =
  (reason: 'timeout' | 'connect') =>
  (path: string): OutboundOutcome | undefined =>
    path.startsWith('/x402/mesh?') ? { status: 'failed', reason, detail: '', url: path, retryable: true } : undefined

/** Peers that it was notified of as silent. */
const reportedTo = ({ announced }: FakePeer): string[] => announced.flatMap(({ body }) => JSON.parse(body).silent ?? [])

test('a peer that answers too late is reported when it does so again, and hears of it itself', async () => {
  const slow = world.add('https://slow.example.com')
  seed.known = [{ did: slow.did, address: slow.origin, sequence: 1 }]
  for (let passes = 0; passes < 20 && (await findPeer(db.database, slow.did))?.state !== 'alive'; passes += 1)
    await pass()
  slow.answer = fails('timeout')
  const failures = async () => (await findPeer(db.database, slow.did))?.failures ?? 0
  while ((await failures()) < 1) await pass()
  expect([await failures(), ...reportedTo(seed), ...reportedTo(slow)]).toEqual([1])
  while ((await failures()) < 2) await pass()
  expect([reportedTo(seed), reportedTo(slow)]).toEqual([[slow.did], [slow.did]])
})

test('a node that a peer takes for silent announces itself there, once in a while, and to nobody it does not know', async () => {
  await pass()
  clock.advance(deps.settings.announceEveryMs)
  const before = seed.announced.length
  const stranger = world.add('https://stranger.example.com')
  for (const from of [seed, seed, stranger]) {
    await rounds.silence.onReported([deps.self.did], from.did)
    await rounds.idle()
  }
  expect([seed.announced.length, stranger.announced.length]).toEqual([before + 1, 0])
})

test('a peer that takes no connection is tried again within the round, and dropped once it was silent for long enough', async () => {
  while ((await findPeer(db.database, seed.did))?.state !== 'alive') await pass()
  seed.answer = fails('connect')
  clock.advance(deps.settings.deadAfterMs)
  await pass()
  expect(await findPeer(db.database, seed.did)).toMatchObject({ state: 'dead', failures: 2 })
})
