import { createHash } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test, vi } from 'vitest'
import type { OutboundOutcome } from '../packages/node/src/outbound/index.ts'
import { peerHeads } from '../packages/node/src/tlog/peers/index.ts'
import { cosign, signNote } from '../packages/node/src/tlog/sign-note.ts'
import { addCheckpointBody } from '../packages/node/src/tlog/witness.ts'
import { checkpointText, parseCheckpoint } from '../packages/protocol/src/log/checkpoint.ts'
import { noteKey, signatureTypes } from '../packages/protocol/src/log/signed-note.ts'
import {
  attestCitation,
  checkTreeHead,
  createAssayClient,
  parseAttestation,
  parseVerifyPolicy,
  readAttestation,
  readDemo,
  readDemoNetworks,
  verifyAttestation,
} from '../packages/sdk/src/index.ts'
import { privateKeyFromSeed } from '../packages/till/src/signing/index.ts'
import { type MeshMember, openMesh, peerUrls } from './harness/mesh-nodes.ts'

vi.setConfig({ testTimeout: 150_000 })
const within = { timeout: 60_000, interval: 200 }

const mesh = await openMesh()
const ownShops = ['account', 'sandbox', 'mesh', 'log', 'sources', 'attestations', 'royalties']
const first = await mesh.start({ ownShops })
const second = await mesh.start({ ownShops, peers: [first.node.url] })
const third = await mesh.start({ ownShops, peers: [second.node.url] })
const members = [first, second, third]
afterAll(() => mesh?.close())

type Described = { url: string; key: string; logs: { origin: string; size: string; first_size: string }[] }
type LogView = { origin: string; keys: string[]; witnesses: string[] }
const read = async <T>(url: string) => (await (await fetch(url)).json()) as T
const witnessOf = ({ node }: MeshMember) => read<Described>(`${node.url}/v1/witness`)
const logOf = ({ node }: MeshMember) => read<LogView>(`${node.url}/v1/log`)
const hashOf = (origin: string) => createHash('sha256').update(origin).digest('hex')
const others = (member: MeshMember) => members.filter((one) => one !== member)

test('nodes that found each other cosign each other’s heads without any configuration', async () => {
  for (const member of members) {
    const keys = await Promise.all(others(member).map(async (other) => (await witnessOf(other)).key))
    const { keys: logKeys } = await logOf(member)
    // The newest head may still be on its way to a peer: any head that both signed will do.
    await vi.waitFor(async () => {
      const note = await (await fetch(`${member.node.url}/v1/log/checkpoint`)).text()
      const head = await checkTreeHead(note, { keys: logKeys, witnesses: keys })
      expect(head.signed).toBe(true)
      expect(head.witnesses.map(({ name }) => name).sort()).toEqual(keys.map((key) => key.split('+')[0]).sort())
    }, within)
    const shown = await logOf(member)
    for (const key of keys) expect(shown.witnesses).toContain(key)
  }
})

test('a witness says what it cosigned, and where it met the log', async () => {
  const { origin } = await logOf(first)
  await vi.waitFor(async () => {
    const { logs } = await witnessOf(second)
    const seen = logs.find((log) => log.origin === origin)
    expect(Number(seen?.first_size)).toBeGreaterThan(0)
    expect(Number(seen?.size)).toBeGreaterThanOrEqual(Number(seen?.first_size))
  }, within)
  const { url, key } = await witnessOf(second)
  const answer = await fetch(`${url}/${hashOf(origin)}/checkpoint`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  const head = await checkTreeHead(await answer.text(), { keys: (await logOf(first)).keys, witnesses: [key] })
  expect([head.signed, head.witnesses.length]).toEqual([true, 1])
  expect((await fetch(`${url}/${hashOf('nobody.example/log')}/checkpoint`)).status).toBe(404)
  expect((await fetch(`${url}/UPPER/checkpoint`)).status).toBe(400)
})

const add = async (member: MeshMember, body: string) => {
  const answer = await fetch(`${member.node.url}/v1/witness/add-checkpoint`, { method: 'POST', body })
  return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() }
}

test('a stranger, a forged head, a stale size and a second history are refused as C2SP says', async () => {
  const { origin } = await logOf(first)
  const { rows } = await first.db.database.query<{ private_d: string }>(
    `select private_d from keyring_demo_secret join keyring using (key_id) where purpose = 'log'`,
  )
  const secret = privateKeyFromSeed(rows[0]?.private_d ?? '')
  const key = noteKey(origin, signatureTypes.ed25519, secret.x)
  const head = (size: number, fill: number, name = origin) =>
    signNote(checkpointText({ origin: name, size, root: Buffer.alloc(32, fill) }), key, secret.privateKey)
  const known = async () => await (await fetch(`${second.node.url}/v1/witness/${hashOf(origin)}/checkpoint`)).text()
  await vi.waitFor(async () => expect(parseCheckpoint(await known())).toBeDefined(), within)

  expect(await add(second, addCheckpointBody(0, [], head(5, 1, 'nobody.example/v1/log')))).toMatchObject({
    status: 404,
  })
  const forged = head(5, 1).replace(/^5$/m, '6')
  expect(await add(second, addCheckpointBody(0, [], forged))).toMatchObject({ status: 403 })
  expect(await add(second, addCheckpointBody(0, [], head(900_000, 1)))).toMatchObject({
    status: 409,
    type: 'text/x.tlog.size',
    body: expect.stringMatching(/^[1-9][0-9]*\n$/),
  })
  expect(await add(second, 'nonsense')).toMatchObject({ status: 400 })
  // The log may grow between the question and the answer: then the size has moved on, and is asked again.
  const atSize = async (bodyOf: (size: number) => string) => {
    for (;;) {
      const size = parseCheckpoint(await known())?.size ?? 0
      const answer = await add(second, bodyOf(size))
      if (answer.status !== 409) return answer
    }
  }
  expect(await atSize((size) => addCheckpointBody(size, [Buffer.alloc(32, 3)], head(size + 7, 2)))).toMatchObject({
    status: 422,
  })
  expect(await atSize((size) => addCheckpointBody(size, [], head(size, 2)))).toMatchObject({ status: 422 })
  const forks = await second.db.database.query<{ first_note: string; second_note: string }>(
    'select first_note, second_note from log_witness_fork where origin = $1',
    [origin],
  )
  const [fork] = forks.rows
  const notes = [fork?.first_note, fork?.second_note].map((note) => parseCheckpoint(note ?? ''))
  expect(notes[0]?.size).toBe(notes[1]?.size)
  expect(notes[0]?.root).not.toEqual(notes[1]?.root)
})

test('what peers saw of a log can be read as outside heads', async () => {
  const { origin, keys } = await logOf(first)
  const { url, key } = await witnessOf(second)
  const fetched = async (target: string): Promise<OutboundOutcome> => {
    const response = await fetch(target)
    return {
      status: 'ok',
      httpStatus: response.status,
      headers: new Map(response.headers),
      bytes: new Uint8Array(await response.arrayBuffer()),
      cut: false,
      url: target,
      redirectedFrom: [],
      address: '127.0.0.1',
      secure: false,
    }
  }
  const peers = (given: string) => ({
    witnesses: async () => [{ did: 'did:web:x', url, key: given, health: 1 }],
    fetch: fetched,
  })
  const heads = await peerHeads(peers(key), { origin, keys: () => keys }, [])
  expect(heads).toEqual([{ source: url, note: expect.stringContaining(`${origin}\n`) }])
  // Not signed by a key of the log, or not by the witness: it says nothing.
  const strange = (await witnessOf(third)).key
  expect(await peerHeads(peers(strange), { origin, keys: () => keys }, [])).toEqual([])
  expect(await peerHeads(peers(key), { origin, keys: () => [] }, [])).toEqual([])
})

test('evidence carries the cosignatures of peers, and counts for anyone who pins their keys', async () => {
  const url = first.node.url
  const { accounts } = await readDemo(url)
  const { demo } = await read<{ demo: { sources: { url: string }[] } }>(url)
  const buyer = accounts.find((one) => one.role === 'buyer')?.privateKey
  if (buyer === undefined) throw new Error('the demo lends no buyer')
  const account = privateKeyToAccount(buyer)
  const client = createAssayClient({
    account,
    networks: await readDemoNetworks(url),
    baseUrl: url,
    maxPerCallUsd: '0.01',
  })
  const bought = await attestCitation(client, url, {
    sourceUrl: demo.sources[0]?.url ?? '',
    agentWallet: account.address,
  })
  const { key } = await witnessOf(second)
  await vi.waitFor(async () => {
    const found = await readAttestation(client, url, bought.id)
    const file = parseAttestation(JSON.parse(JSON.stringify(found)))
    if (!file) throw new Error('not an attestation')
    const policy = parseVerifyPolicy('witnesses=1of1')
    const report = await verifyAttestation(file, { witnesses: [key], ...(policy ? { policy } : {}), nowMs: Date.now() })
    expect(report.checks.filter(({ status }) => status === 'failed')).toEqual([])
    expect(report.checks.find(({ name }) => name === 'witnesses')).toMatchObject({ status: 'passed' })
  }, within)
})

test('a peer that claims a larger tree, and shows a head that the log never signed, stops nobody', async () => {
  const { origin } = await logOf(first)
  const { rows } = await third.db.database.query<{ name: string; private_d: string }>(
    'select name, private_d from witness_self',
  )
  const liar = privateKeyFromSeed(rows[0]?.private_d ?? '')
  const text = checkpointText({ origin, size: 9_000_000, root: Buffer.alloc(32, 9) })
  const key = noteKey(rows[0]?.name ?? '', signatureTypes.cosignature, liar.x)
  const forged = signNote(text, noteKey(origin, signatureTypes.ed25519, liar.x), liar.privateKey)
  const note = `${forged}${cosign(text, key, liar.privateKey, Math.floor(Date.now() / 1000))}`
  // Under the lock of the witness: an honest head that is being cosigned would be written over it.
  await third.db.database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`witness ${rows[0]?.name} ${origin}`])
    const forge = 'update log_witness_state set size = 9000000, root = $2, note = $3 where origin = $1'
    await tx.query(forge, [origin, Buffer.alloc(32, 9), note])
  })
  const shown = async () => (await fetch(`${third.node.url}/v1/witness/${hashOf(origin)}/checkpoint`)).text()
  await expect.poll(shown, within).toBe(note)
  expect(
    await add(third, addCheckpointBody(0, [], await (await fetch(`${first.node.url}/v1/log/checkpoint`)).text())),
  ).toMatchObject({ status: 409, body: '9000000\n' })
  const compared = async () => {
    const { rows } = await first.db.database.query<{ at: Date }>('select checked_at as at from log_tree')
    return rows[0]?.at.getTime() ?? 0
  }
  const size = async () => Number((await (await fetch(`${first.node.url}/v1/log/checkpoint`)).text()).split('\n')[1])
  const then = await compared()
  // A new head is compared soon, one that is known only now and then.
  await first.db.database.query(`select log_append('key', 'key:seen', 'an entry that makes peers be asked')`)
  await expect.poll(compared, within).toBeGreaterThan(then)
  const before = await size()
  await first.db.database.query(`select log_append('key', 'key:lie', 'an entry after the lie')`)
  await expect.poll(size, within).toBeGreaterThan(before)
  expect(await read(`${first.node.url}/v1/log`)).toMatchObject({ state: 'open' })
  const body = JSON.stringify({
    source_url: 'http://glossary.test/short-squeeze',
    agent_wallet: `0x${'11'.repeat(20)}`,
  })
  const headers = { 'content-type': 'application/json' }
  expect((await fetch(`${first.node.url}/v1/cite/attest`, { method: 'POST', headers, body })).status).toBe(402)
  await vi.waitFor(async () => {
    const { logs } = await witnessOf(second)
    expect(Number(logs.find((log) => log.origin === origin)?.size)).toBeGreaterThan(before)
  }, within)
})

test('when a peer is gone the others go on cosigning', async () => {
  await mesh.end(third)
  await expect.poll(() => peerUrls(first.node.url), within).toEqual([second.node.url])
  const size = async () => Number((await (await fetch(`${first.node.url}/v1/log/checkpoint`)).text()).split('\n')[1])
  const before = await size()
  await first.db.database.query(`select log_append('key', 'key:test', 'an entry that makes the log grow')`)
  await vi.waitFor(async () => {
    const { logs } = await witnessOf(second)
    const { origin } = await logOf(first)
    expect(Number(logs.find((log) => log.origin === origin)?.size)).toBeGreaterThan(before)
  }, within)
})
