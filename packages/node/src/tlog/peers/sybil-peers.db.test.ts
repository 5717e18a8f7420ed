import { parseCheckpoint } from '@assay/protocol/log/checkpoint'
import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import { generateSigningKey } from '@assay/till/signing'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { beforeEach, expect, test } from 'vitest'
import { askWitness } from '../collect-cosignatures.ts'
import { pruneHeads } from '../prune-heads.ts'
import { createOutsideWitness, type LogHarness, openLogHarness, origin } from '../restored-log.fixture.ts'
import { cosign } from '../sign-note.ts'
import { newestCheckpoint } from '../store.ts'
import { addCheckpointBody, createWitness, type Witness } from '../witness.ts'
import { createPeerAsker } from './ask-peers.ts'
import { peerHeads } from './peer-heads.ts'
import type { PeerLogs, PeerWitness } from './peer-logs.ts'

let harness: LogHarness
const db = await useTestDatabase()
beforeEach(async () => {
  harness = await openLogHarness(
    db,
    harness === undefined ? {} : { keyring: harness.keyring, witnesses: harness.witnesses },
  )
})

type Member = Pick<Witness, 'key' | 'addCheckpoint'> & { readHead(): Promise<string | undefined> }

const offeredAs = (host: string, { key }: Pick<Member, 'key'>, health = 1): PeerWitness => ({
  did: `did:web:${host}`,
  url: `https://${host}/w`,
  key: key.vkey,
  health,
})

/** Peers at their hosts; what the mesh names at most comes from `shown`, beside those that are asked for by key. */
function peersAt(members: ReadonlyMap<string, Member>, shown: () => readonly string[]): PeerLogs {
  const offered = (host: string) => offeredAs(host, members.get(host) as Member)
  return {
    anybodySql: 'true',
    findLog: async () => undefined,
    witnesses: async (known) => {
      const named = [...members.keys()].filter((host) => known.includes(members.get(host)?.key.vkey ?? ''))
      return [...new Set([...named, ...shown()])].map(offered)
    },
    fetch: async (url, { body = '' }) => {
      const member = members.get(new URL(url).host) as Member
      const answer = url.endsWith('/checkpoint')
        ? { status: 200, contentType: 'text/plain', body: (await member.readHead()) ?? '' }
        : await member.addCheckpoint(body as string)
      return {
        status: 'ok',
        httpStatus: answer.status,
        headers: new Map([['content-type', answer.contentType]]),
        bytes: Buffer.from(answer.body),
        cut: false,
        url,
        redirectedFrom: [],
        address: '192.0.2.1',
        secure: true,
      }
    },
  }
}

const memberAt = (host: string) => createOutsideWitness(`${host}/w`, harness.tree.keys)
const askDeps = (peers: PeerLogs) => ({
  ...harness.deps,
  metrics: silentMetrics,
  log: silentLog,
  clock: systemClock,
  peers,
})

test('peers that come and go do not make the head unreadable, nor push the configured witness out of it', async () => {
  await harness.append('crowd')
  await harness.compare()
  const newest = await newestCheckpoint(db.database)
  if (!newest) throw new Error('no head')
  for (let n = 0; n < 120; n += 1) {
    const { key, addCheckpoint } = memberAt(`sybil-${n}.example`)
    const answer = await askWitness(harness.deps, { key, addCheckpoint, peer: true }, newest)
    expect(answer.outcome).toBe('signed')
  }
  const head = parseCheckpoint((await harness.tree.checkpoint()) ?? '')
  expect(head?.signatures.length).toBeLessThanOrEqual(34)
  expect(head?.signatures.map(({ name }) => name)).toContain('witness.example/w')
})

test('a peer that dates its cosignature back is not kept', async () => {
  await harness.append('dated')
  const newest = await newestCheckpoint(db.database)
  if (!newest) throw new Error('no head')
  const key = generateSigningKey(systemRng)
  for (const seconds of [0, Math.floor(Date.now() / 1000) - 3_600, Math.floor(Date.now() / 1000) + 3_600, 2 ** 52]) {
    const { key: name } = createWitness({
      name: 'dated.example/w',
      privateKey: key,
      logs: new Map(),
      clock: systemClock,
      store: { change: async () => ({ status: 500, contentType: '', body: '' }) },
    })
    const text = parseCheckpoint(newest.note)?.text ?? ''
    const line = cosign(text, name, key.privateKey, seconds)
    const addCheckpoint = async () => ({ status: 200, contentType: 'text/plain', body: line })
    const answer = await askWitness(harness.deps, { key: name, peer: true, addCheckpoint }, newest)
    expect(answer, String(seconds)).toMatchObject({ outcome: 'refused' })
  }
  const { rowCount } = await db.database.query(`select from log_cosignature where witness = 'dated.example/w'`)
  expect(rowCount).toBe(0)
})

test('a crowd of strangers neither takes the place of a peer that has cosigned, nor hides what it has seen', async () => {
  const honest = memberAt('zz-honest.example')
  const members = new Map<string, Member>([['zz-honest.example', honest]])
  const asked = (shown: () => readonly string[]) =>
    createPeerAsker(askDeps(peersAt(members, shown)), { witnessesMax: 4, everyMs: 0 }, [])
  await harness.append('before the crowd')
  await asked(() => ['zz-honest.example'])()
  const before = honest.seen()
  expect(before).toBeGreaterThan(0)
  const crowd = Array.from({ length: 64 }, (_, n) => `aa-${String(n).padStart(2, '0')}.example`)
  for (const host of crowd) members.set(host, memberAt(host))
  // Another process, which has asked nobody yet, and a mesh that names none but strangers.
  const restarted = asked(() => crowd)
  await harness.append('in the crowd')
  await restarted()
  expect(honest.seen()).toBe(before + 1)
  const { rows } = await db.database.query<{ vkey: string }>(`select distinct vkey from log_cosignature where peer`)
  const heads = await peerHeads(
    peersAt(members, () => crowd),
    harness.tree,
    rows.map(({ vkey }) => vkey),
  )
  expect(heads.map(({ source }) => source)).toContain('https://zz-honest.example/w')
})

test('one peer that claims a tree which does not exist stops nothing', async () => {
  const lies = [
    { status: 409, contentType: 'text/x.tlog.size', body: '9000000000000000\n' },
    { status: 422, contentType: 'text/plain', body: 'another tree\n' },
    { status: 409, contentType: 'text/plain', body: 'no\n' },
    { status: 200, contentType: 'text/plain', body: '— liar.example/w AAAA\n'.repeat(200) },
  ]
  for (const [n, lie] of lies.entries()) {
    const { key } = memberAt(`liar-${n}.example`)
    const foreign = addCheckpointBody(
      0,
      [],
      `${origin}\n9000000\n${Buffer.alloc(32, 7).toString('base64')}\n\n— x AAAA\n`,
    )
    const liar: Member = { key, addCheckpoint: async () => lie, readHead: async () => foreign.slice(7) }
    const peers = peersAt(new Map([['liar.example', liar]]), () => ['liar.example'])
    await harness.append(`lie ${n}`)
    await createPeerAsker(askDeps(peers), { witnessesMax: 4, everyMs: 0 }, [])()
    expect(await peerHeads(peers, harness.tree, [])).toEqual([])
    expect(await harness.compare()).toMatchObject({ forkReason: null })
    const size = await harness.size()
    await harness.append(`after lie ${n}`)
    expect(await harness.size()).toBe(size + 1)
  }
})

test('what strangers cosigned goes with the heads it is under', async () => {
  await db.owner.query('alter table log_checkpoint disable trigger user')
  await db.owner.query(`update log_checkpoint set signed_at = now() - interval '60 days'`)
  await db.owner.query('alter table log_checkpoint enable trigger user')
  for (let n = 0; n < 70; n += 1) await harness.append(`later ${n}`)
  const nowMs = systemClock.nowMs()
  const sizesOf = async () =>
    (await db.database.query<{ size: bigint }>('select distinct size from log_cosignature where peer')).rows.length
  expect(await sizesOf()).toBeGreaterThan(1)
  await pruneHeads(db.database, nowMs)
  // The last head of the stretch stays for its leaves.
  expect(await sizesOf()).toBeLessThanOrEqual(1)
})
