import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Checkpoint, parseCheckpoint } from '../packages/protocol/src/log/checkpoint.ts'
import { verifyConsistency } from '../packages/protocol/src/log/verify-proof.ts'
import {
  type CitationAttestation,
  parseAttestation,
  parseVerifyPolicy,
  verifyAttestation,
} from '../packages/sdk/src/index.ts'
import type { TestDatabase } from '../packages/till/src/store/testing.ts'
import { buyer, type LogNode, openRestoredWorld } from './harness/restored-node.ts'
import { buy, echoPath } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'

const mirror = () => join(world.folder, 'mirror')

const world = await openRestoredWorld()
const db = await world.firstDatabase()
const first = await world.start(db)
const before = await first.sell(3)
await first.node.stop()
const backups = [await db.copy(), await db.copy()]
const second = await world.start(db)
const after = await second.sell(3)
const lastLeaf = Math.max(...after.map(({ log }) => Number(log.leaf_index)))
await until('a head over all of them is on chain', async () => {
  const { rows } = await db.database.query<{ size: bigint | null }>(
    `select max(size) as size from log_anchor where state = 'anchored'`,
  )
  return Number(rows[0]?.size ?? 0) > lastLeaf
})
await world.mirror(db, mirror())
await world.stopAll()
const newest = await db.copy()
afterAll(() => world.close(), 60_000)

const problem = async (response: Response) => ({
  status: response.status,
  ...((await response.json()) as { code: string; reason: string }),
})
const alarms = async ({ node }: LogNode) =>
  /assay_alarms_total\{alarm="log_forked"\} (\d+)/.exec(await (await fetch(`${node.url}/metrics`)).text())?.[1]

async function expectStopped(restored: LogNode): Promise<void> {
  expect(await restored.log()).toMatchObject({ state: 'stopped', stopped: { reason: 'forked', since: sinceThen } })
  const size = (await restored.log()).size
  expect(await problem(await restored.attest())).toMatchObject({
    status: 503,
    code: 'not_available',
    why: 'log_stopped',
    reason: 'forked',
  })
  const remit = { parent: before[0]?.id, sale_price_micro: '1000000' }
  const headers = { 'content-type': 'application/json' }
  const post = { method: 'POST', headers, body: JSON.stringify(remit) }
  expect(await problem(await fetch(`${restored.node.url}/v1/royalties/remit`, post))).toMatchObject({
    code: 'not_available',
    why: 'log_stopped',
  })
  expect(await (await fetch(`${restored.node.url}/readyz`)).json()).toMatchObject({
    checks: { 'transparency log': 'failed', database: 'ok' },
  })
  expect(await alarms(restored)).toBe('1')
  // Everything else goes on.
  expect((await buy(buyer, `${restored.node.url}${echoPath}`)).status).toBe(200)
  expect((await restored.log()).size).toBe(size)
}

async function expectAllVerify(restored: LogNode): Promise<void> {
  for (const file of [...before, ...after]) {
    const { ok, checks } = await verifyAttestation(file, { witnesses: world.witnessKeys })
    expect(ok, JSON.stringify(checks)).toBe(true)
    const old = parseCheckpoint(file.log.checkpoint ?? '') as Checkpoint
    const read = await fetch(`${restored.node.url}/v1/log/checkpoint`)
    const now = parseCheckpoint(await read.text()) as Checkpoint
    const asked = await fetch(`${restored.node.url}/v1/log/consistency?from=${old.size}&to=${now.size}`)
    const { proof } = (await asked.json()) as { proof: string[] }
    const path = proof.map((hash) => Buffer.from(hash, 'base64'))
    expect(verifyConsistency(old.size, now.size, path, old.root, now.root), `from ${old.size} to ${now.size}`).toBe(
      true,
    )
  }
}

const sinceThen = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/)

test('after a restore that is noticed nothing is signed until a witness answers or the operator says so', async () => {
  // As a promoted standby or a restored backup has it: the server is on another timeline than noted.
  await newest.owner.query('update instance set timeline = timeline + 1')
  const restored = await world.start(newest, { away: true })
  expect(await restored.log()).toMatchObject({ state: 'stopped', stopped: { reason: 'restored', since: sinceThen } })
  expect(await problem(await restored.attest())).toMatchObject({ status: 503, reason: 'restored' })
  expect((await world.assay(newest, 'log', 'resume', '--reason', ' ')).code).toBe(2)
  expect(await world.assay(newest, 'log', 'resume', '--reason', 'both witnesses are gone')).toMatchObject({ code: 0 })
  await until('the log goes on', async () => (await restored.log()).state === 'open')
  await newest.owner.query('update instance set timeline = timeline + 1')
  expect((await (await world.start(newest)).log()).state, 'with a witness that answers').toBe('open')
  await world.mirror(newest, mirror())
}, 120_000)

test('a restored node signs and sells no stamp until its log is repaired from a mirror, and loses no leaf', async () => {
  const [db] = backups as [TestDatabase]
  const restored = await world.start(db)
  await expectStopped(restored)
  expect((await world.assay(db, 'log', 'status')).output).toContain('STOPPED (forked)')
  expect((await world.assay(db, 'doctor')).output).toContain('FAIL  transparency log')
  const failed = await world.assay(db, 'log', 'repair', '--evidence', world.folder, '--reason', 'a test')
  expect(failed).toMatchObject({ code: 1, output: expect.stringContaining('nothing was changed') })
  const repaired = await world.assay(db, 'log', 'repair', '--from', mirror(), '--reason', 'restored for a test')
  expect(repaired, repaired.output).toMatchObject({ code: 0 })
  const ids = after.map(({ id }) => id)
  const { rows } = await db.owner.query('select kind from log_entry where subject = any($1)', [ids])
  expect(rows).toEqual(ids.map(() => ({ kind: 'citation' })))
  await until('the log goes on', async () => (await restored.log()).state === 'open')
  const [sold] = await restored.sell(1)
  expect(Number(sold?.log.leaf_index)).toBeGreaterThan(Math.max(...after.map(({ log }) => Number(log.leaf_index))))
  await expectAllVerify(restored)
  expect((await fetch(`${restored.node.url}/readyz`)).status).toBe(200)
  // What was signed here is on chain: anyone who restores the other backup needs it.
  await world.mirror(db, mirror())
}, 180_000)

test('without a witness of another operator the head on chain stops a restored node, and the operator answers for the repair', async () => {
  const [, db] = backups as [TestDatabase, TestDatabase]
  await world.stopAll()
  // As where the data folder is not kept.
  await rm(join(world.folder, 'home', 'log-head'))
  const restored = await world.start(db, { alone: true })
  await expectStopped(restored)
  expect((await restored.log()).stopped?.detail).toContain('anchor eip155:8453 holds a signed head')
  const files = join(world.folder, 'evidence')
  await mkdir(files)
  for (const file of after) await writeFile(join(files, `${file.id}.json`), JSON.stringify(file))
  const repaired = await world.assay(db, 'log', 'repair', '--from', mirror(), '--evidence', files, '--reason', 'a test')
  expect(repaired, repaired.output).toMatchObject({ code: 0 })
  // Heads that nobody outside has seen may have been signed after the last anchor.
  await until('only the restore is left', async () => (await restored.log()).stopped?.reason === 'restored')
  expect(await world.assay(db, 'log', 'resume', '--reason', 'every copy was given')).toMatchObject({ code: 0 })
  await until('the log goes on', async () => (await restored.log()).state === 'open')
  await expectAllVerify(restored)
}, 180_000)

test('a log that begins again under another name sells stamps that verify, and names the one before', async () => {
  const [, db] = backups as [TestDatabase, TestDatabase]
  const again = 'again.example/v1/log'
  const done = await world.assay(db, 'log', 'repair', '--new-origin', again, '--reason', 'no copy is left')
  expect(done, done.output).toMatchObject({ code: 0 })
  const renamed = await world.start(db, { alone: true })
  const { origin } = await renamed.log()
  expect(origin).toBe(again)
  const body = JSON.stringify({ source_url: before[0]?.record['source_url'], agent_wallet: buyer.address })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const bought = await buy(buyer, `${renamed.node.url}/v1/cite/attest`, {}, init)
  const sold = parseAttestation(await bought.json())
  const first = before[0] as CitationAttestation
  const policy = parseVerifyPolicy('logged')
  for (const id of [sold?.id, first.id]) {
    const file = parseAttestation(await (await fetch(`${renamed.node.url}/v1/attestations/${id}`)).json())
    const { checks } = await verifyAttestation(file as CitationAttestation, policy ? { policy } : {})
    const head = parseCheckpoint(file?.log.checkpoint ?? '')
    expect([id, head?.origin, checks.filter(({ status }) => status === 'failed')]).toEqual([id, again, []])
  }
  // What buyers saved before verifies against the heads of the old name.
  expect((await verifyAttestation(first, { witnesses: world.witnessKeys })).ok).toBe(true)
}, 180_000)
