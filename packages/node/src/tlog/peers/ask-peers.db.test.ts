import { noteKey, parseNoteKey, signatureTypes } from '@assay/protocol/log/signed-note'
import { type Clock, systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import { createFixedKeyring, generateSigningKey, type LocalSigningKey } from '@assay/till/signing'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { collectCosignatures } from '../collect-cosignatures.ts'
import { openDemoWitnesses } from '../demo-witnesses.ts'
import { openLog } from '../open-log.ts'
import { appendToLog } from '../store.ts'
import { createWitness, type SeenTree, type Witness } from '../witness.ts'
import { chooseWitnesses, createPeerAsker } from './ask-peers.ts'
import { openOwnWitness } from './own-witness.ts'
import { noPeers, type PeerLogs, type PeerWitness } from './peer-logs.ts'

const db = await useTestDatabase()

const origin = 'own.example/v1/log'
const keyring = createFixedKeyring(generateSigningKey(systemRng), 0)
let aheadMs = 0
const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs }
const openTree = () => openLog({ database: db.database, clock, metrics: silentMetrics, keyring, origin })

/** A peer's witness in memory; `away` makes it silent. */
function memoryWitness(name: string, privateKey: LocalSigningKey, keys: () => string[]) {
  const seen = new Map<string, SeenTree>()
  const witness = createWitness({
    name,
    privateKey,
    clock,
    logs: { get: (asked) => (asked === origin ? keys().flatMap((key) => parseNoteKey(key) ?? []) : undefined) },
    store: {
      change: async (asked, decide) => {
        const { keep, answer } = decide(seen.get(asked))
        if (keep) seen.set(asked, keep)
        return answer
      },
    },
  })
  return { witness, asked: 0, away: false }
}

function peersOf(members: Record<string, { witness: Witness; asked: number; away: boolean }>): PeerLogs {
  const offered = Object.entries(members).map(
    ([host, { witness }]): PeerWitness => ({
      did: `did:web:${host}`,
      url: `https://${host}/w`,
      key: witness.key.vkey,
      health: 1,
    }),
  )
  return {
    ...noPeers,
    witnesses: async () => offered,
    fetch: async (url, { body = '' }) => {
      const member = members[new URL(url).host]
      if (!member) throw new Error('nobody there')
      member.asked += 1
      if (member.away) return { status: 'failed', reason: 'timeout', detail: '', url, retryable: true }
      const { status, contentType, body: text } = await member.witness.addCheckpoint(body)
      return {
        status: 'ok',
        httpStatus: status,
        headers: new Map([['content-type', contentType]]),
        bytes: Buffer.from(text),
        cut: false,
        url,
        redirectedFrom: [],
        address: '192.0.2.1',
        secure: true,
      }
    },
  }
}

const grow = async (tree: ReturnType<typeof openTree>, subject: string) => {
  await appendToLog(db.database, [{ kind: 'test', subject, entry: Buffer.from(subject) }])
  await tree.integrate()
}

test('a peer is shown one head per interval, a silent one ever more rarely, and configured witnesses decide the proof', async () => {
  const tree = openTree()
  const members = {
    'a.example': memoryWitness('a.example/w', generateSigningKey(systemRng), tree.keys),
    'b.example': memoryWitness('b.example/w', generateSigningKey(systemRng), tree.keys),
  }
  const deps = { database: db.database, log: silentLog, metrics: silentMetrics, tree, clock, peers: peersOf(members) }
  const ask = createPeerAsker(deps, { witnessesMax: 8, everyMs: 60_000 }, [])
  await grow(tree, 'one')
  await ask()
  expect([members['a.example'].asked, members['b.example'].asked]).toEqual([1, 1])
  const proof = async (subject: string) => {
    aheadMs += 2_000
    return tree.proofOf(subject, 'witnessed')
  }
  const first = await proof('one')
  expect(first?.witnesses.map(({ name }) => name)).toEqual(['a.example/w', 'b.example/w'])
  expect(first?.witness_keys).toEqual(Object.values(members).map(({ witness }) => witness.key.vkey))
  await grow(tree, 'two')
  await ask()
  expect([members['a.example'].asked, members['b.example'].asked], 'not before the interval is over').toEqual([1, 1])
  members['b.example'].away = true
  for (let minute = 0; minute < 64; minute += 1) {
    aheadMs += 60_000
    await grow(tree, `minute ${minute}`)
    await ask()
  }
  expect(members['a.example'].asked).toBeGreaterThan(60)
  // 2, 4, 8, 16, 32 minutes apart.
  expect(members['b.example'].asked).toBeLessThan(9)
  // A head that a configured witness signed is preferred to one with more peers.
  const [configured] = await openDemoWitnesses({ database: db.database, clock, rng: systemRng }, tree)
  await grow(tree, 'three')
  await collectCosignatures(deps, configured ? [configured] : [])
  const second = await proof('one')
  expect(second?.witnesses.map(({ name }) => name)).toEqual(['witness.test/first'])
})

test('peers keep their place, a key counts once, and a configured witness is not asked a second time', () => {
  const key = (name: string, fill: number) =>
    noteKey(name, signatureTypes.cosignature, Buffer.alloc(32, fill).toString('base64url'))
  const offered = (name: string, fill: number, health = 1): PeerWitness => ({
    did: `did:web:${name}`,
    url: `https://${name}`,
    key: key(name, fill).vkey,
    health,
  })
  const names = (list: ReturnType<typeof chooseWitnesses>) => list.map(({ key }) => key.name)
  const many = [offered('a', 1, 0.7), offered('b', 2), offered('c', 3), offered('d', 3), offered('e', 5)]
  expect(names(chooseWitnesses(many, [], [], 2))).toEqual(['b', 'c'])
  expect(names(chooseWitnesses(many, [key('a', 1).vkey], [], 2))).toEqual(['a', 'b'])
  expect(names(chooseWitnesses(many, [], [], 9))).toEqual(['b', 'c', 'e', 'a'])
  expect(names(chooseWitnesses(many, [], [key('z', 2), key('c', 9)], 9))).toEqual(['d', 'e', 'a'])
  const logKey = {
    ...offered('f', 6),
    key: noteKey('f', signatureTypes.ed25519, Buffer.alloc(32, 6).toString('base64url')).vkey,
  }
  expect(chooseWitnesses([logKey, { ...logKey, key: 'nonsense' }], [], [], 9)).toEqual([])
})

test('the witness of a node keeps its key and its name, whatever address the node has later', async () => {
  const deps = { database: db.database, clock, rng: systemRng, log: silentLog, metrics: silentMetrics }
  const first = await openOwnWitness(deps, 'first.example/v1/witness', noPeers)
  const again = await openOwnWitness(deps, 'second.example/v1/witness', noPeers)
  expect(again.key.vkey).toBe(first.key.vkey)
  expect(first.key.name).toBe('first.example/v1/witness')
  expect(keyring.keys().some(({ x }) => x === first.key.x)).toBe(false)
})
