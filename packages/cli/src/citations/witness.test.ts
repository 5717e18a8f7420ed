import { createHash } from 'node:crypto'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkpointText, cosignedAt } from '@assay/protocol/log/checkpoint'
import { noteKey, parseSignatureLine, signatureTypes } from '@assay/protocol/log/signed-note'
import { privateKeyFromSeed } from '@assay/till/signing'
import { afterAll, expect, test } from 'vitest'
import { signNote } from '../../../node/src/tlog/sign-note.ts'
import { leafHash, nodeHash } from '../../../node/src/tlog/tree-hash.ts'
import { addCheckpointBody } from '../../../node/src/tlog/witness.ts'
import { httpWitness } from '../../../node/src/tlog/witness-adapter.ts'
import { openWitness, serveWitness } from './run-witness.ts'

const origin = 'log.example/v1/log'
const privateKey = privateKeyFromSeed(Buffer.alloc(32, 7).toString('base64url'))
const logKey = noteKey(origin, signatureTypes.ed25519, privateKey.x)
const leaves = ['one', 'two'].map((text) => leafHash(Buffer.from(text))) as [Buffer, Buffer]
const headOf = (size: number, root: Buffer, name = origin) =>
  signNote(checkpointText({ origin: name, size, root }), logKey, privateKey.privateKey)
const one = headOf(1, leaves[0])
const two = headOf(2, nodeHash(...leaves))

const home = await mkdtemp(join(tmpdir(), 'assay-witness-http-'))
const witness = await openWitness({ name: 'witness.example', log: [logKey.vkey], home })
const served = await serveWitness(witness, { host: '127.0.0.1', port: 0 })
afterAll(async () => {
  await served.close()
  await rm(home, { recursive: true, force: true })
})

test('growth of a log is signed over HTTP; a stale size, a bad proof, another log and a forged head are not', async () => {
  const peer = httpWitness(served.url, witness.key)
  const first = await peer.addCheckpoint(addCheckpointBody(0, [], one))
  expect(first).toMatchObject({ status: 200, contentType: 'text/plain; charset=utf-8' })
  const line = parseSignatureLine(first.body.trimEnd())
  expect(
    line && (await cosignedAt(checkpointText({ origin, size: 1, root: leaves[0] }), line, witness.key)),
  ).toBeGreaterThan(0)
  const stale = await peer.addCheckpoint(addCheckpointBody(0, [], two))
  expect(stale).toMatchObject({ status: 409, contentType: 'text/x.tlog.size', body: '1\n' })
  expect(await peer.addCheckpoint(addCheckpointBody(1, [leaves[0]], two))).toMatchObject({ status: 422 })
  expect(await peer.addCheckpoint(addCheckpointBody(1, [leaves[1]], two))).toMatchObject({ status: 200 })
  expect(await peer.addCheckpoint(addCheckpointBody(2, [], headOf(2, leaves[0])))).toMatchObject({ status: 422 })
  expect(await peer.addCheckpoint(addCheckpointBody(0, [], headOf(1, leaves[0], 'other/log')))).toMatchObject({
    status: 404,
  })
  const forged = two.replace(/^2$/m, '3')
  expect(await peer.addCheckpoint(addCheckpointBody(2, [], forged))).toMatchObject({ status: 403 })
  expect(await peer.addCheckpoint('old 0\n\nnonsense')).toMatchObject({ status: 400 })
})

test('it shows the head it cosigned last, with its own signature', async () => {
  const hash = createHash('sha256').update(origin).digest('hex')
  const answer = await fetch(`${served.url}/${hash}/checkpoint`)
  const note = await answer.text()
  expect([answer.status, note.startsWith(two)]).toEqual([200, true])
  const line = parseSignatureLine(note.slice(two.length).trimEnd())
  expect(line && (await cosignedAt(two.slice(0, two.indexOf('\n\n') + 1), line, witness.key))).toBeGreaterThan(0)
  expect((await fetch(`${served.url}/${'0'.repeat(64)}/checkpoint`)).status).toBe(404)
})

test('anything else over HTTP is refused in words, and a body without end is cut off', async () => {
  const ask = async (path: string, init: RequestInit = {}) => (await fetch(`${served.url}${path}`, init)).status
  expect(await ask('/')).toBe(404)
  expect(await ask('/add-checkpoint')).toBe(405)
  expect(await ask('/add-checkpoint', { method: 'POST', body: 'x'.repeat(70_000) })).toBe(413)
  expect(await ask('/add-checkpoint', { method: 'POST', body: '' })).toBe(400)
  expect((await stat(join(home, 'key'))).mode & 0o077).toBe(0)
})
