import { playPeer } from '@assay/protocol/mesh/hostile-peer.fixture'
import { openStatement, type PeerKey, verifyMeshStatement } from '@assay/protocol/mesh/statement'
import { expect, test } from 'vitest'
import { openKnownStatement, verifyKnownStatement } from './known-statements.ts'

const nowMs = 1_800_000_000_000
const address = 'https://api.example.org'

test('a statement that is known is still checked for its time, its address and the key that signed it', async () => {
  const peer = playPeer(address, { nowMs: () => nowMs })
  const jws = peer.statement()
  const keys = await keysOf(peer)
  const check = { address, keys, nowMs }
  const first = await verifyMeshStatement(jws, check)
  expect(first.ok).toBe(true)
  for (let times = 0; times < 2; times += 1) expect(await verifyKnownStatement(jws, check)).toEqual(first)
  const later = { ...check, nowMs: nowMs + 86_400_000 }
  const elsewhere = { ...check, address: 'https://other.example.org' }
  const otherKey = { ...check, keys: await keysOf(playPeer(address, { nowMs: () => nowMs, kid: peer.kid })) }
  const revoked = { ...check, keys: keys.map((key) => ({ ...key, exp: nowMs / 1_000 - 3_600 })) }
  const none = { ...check, keys: [] }
  for (const wrong of [later, elsewhere, otherKey, revoked, none]) {
    const verdict = await verifyKnownStatement(jws, wrong)
    expect(verdict.ok).toBe(false)
    expect(verdict).toEqual(await verifyMeshStatement(jws, wrong))
  }
  // Another letter than it was, whatever key has signed.
  const forged = `${jws.slice(0, -9)}${jws.at(-9) === 'A' ? 'B' : 'A'}${jws.slice(-8)}`
  expect(await verifyKnownStatement(forged, check)).toMatchObject({ ok: false, reason: 'signature' })
})

test('the content of a statement is the same whether it was opened before or not, also past the limit', () => {
  const peer = playPeer(address, { nowMs: () => nowMs })
  const statements = Array.from({ length: 600 }, (_, i) => {
    peer.sequence = nowMs - i
    return peer.statement()
  })
  for (const jws of [...statements, ...statements]) expect(openKnownStatement(jws)).toEqual(openStatement(jws))
  expect(openKnownStatement('no statement')).toBeUndefined()
})

async function keysOf(peer: ReturnType<typeof playPeer>): Promise<PeerKey[]> {
  const answer = await peer.respond(new Request(`${address}/.well-known/http-message-signatures-directory`))
  return ((await answer.json()) as { keys: PeerKey[] }).keys
}
