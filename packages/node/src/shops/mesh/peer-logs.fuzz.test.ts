import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { readMeshStatement } from '@assay/protocol/mesh/read-statement'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fixedKeyring, movableClock, testDeps } from './mesh.fixture.ts'
import { makeStatement } from './own-statement.ts'
import { announcedLog, announcedWitness } from './peer-logs.ts'
import { silentDatabase } from './silent-database.fixture.ts'

const clock = movableClock(1_767_225_600_000)
const deps = testDeps({
  origin: 'https://node.example.org',
  database: silentDatabase,
  clock,
  keyring: fixedKeyring(9),
  fetcher: { fetch: () => Promise.reject(new Error('unused')) },
})
const vkey = (name: string) => `${name}+01020304+BAQEBAQ=`
const rowOf = (announced: Record<string, Json>) => ({
  did: deps.self.did,
  statement: makeStatement({ ...deps, announced: () => announced }, 7).jws,
  state: 'alive' as const,
  health: 1,
})

test('a log and a witness are taken when they are named after the peer’s own address', () => {
  const log = { origin: 'node.example.org/v1/log', url: 'https://node.example.org/v1/log', keys: [vkey('x')] }
  const witness = { url: 'https://node.example.org/v1/witness', key: vkey('node.example.org/v1/witness') }
  const row = rowOf({ log, witness })
  expect(announcedLog(row)).toEqual({ did: row.did, origin: log.origin, keys: log.keys })
  expect(announcedWitness(row)).toEqual({ did: row.did, health: 1, ...witness })
  expect(announcedWitness({ ...row, state: 'suspect' })).toBeUndefined()
})

test('no peer speaks for the log of another, nor sends anybody to another address', () => {
  for (const origin of ['other.example/v1/log', 'node.example.org.evil/v1/log', 'node.example.org:81/v1/log', '/v1'])
    expect(announcedLog(rowOf({ log: { origin, url: 'https://x', keys: [vkey('x')] } })), origin).toBeUndefined()
  const key = vkey('node.example.org/v1/witness')
  for (const url of [
    'https://other.example/v1/witness',
    'http://node.example.org/v1/witness',
    'https://node.example.org:444/w',
    'https://user@node.example.org/w',
    'https://node.example.org/w?x=1',
    'https://node.example.org/w#x',
    'https://node.example.org/',
    'not a url',
  ])
    expect(announcedWitness(rowOf({ witness: { url, key } })), url).toBeUndefined()
  const named = { url: 'https://node.example.org/w', key: vkey('witness.example/w1') }
  expect(announcedWitness(rowOf({ witness: named }))).toBeUndefined()
})

test('whatever is in the two members, the statement itself is still accepted', () => {
  const { jws: _, ...made } = makeStatement(deps, 7)
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 2 }), fc.jsonValue({ maxDepth: 2 }), (log, witness) => {
      const json = canonicalJson({ ...made.statement, log, witness } as Json)
      const read = readMeshStatement(json)
      expect(read).toMatchObject({ did: deps.self.did })
      const jws = `x.${Buffer.from(json).toString('base64url')}.x`
      const row = { did: deps.self.did, statement: jws, state: 'alive' as const, health: 1 }
      expect([announcedLog(row), announcedWitness(row)]).toEqual([undefined, undefined])
    }),
    { numRuns: 200 },
  )
})
