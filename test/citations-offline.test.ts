import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWitness } from '../packages/cli/src/citations/run-witness.ts'
import { addCheckpointBody } from '../packages/node/src/citations/log/witness.ts'
import { demoAccount } from '../packages/node/src/devnet/accounts.ts'
import { type CitationAttestation, parseAttestation, verifyAttestation } from '../packages/sdk/src/index.ts'
import { buy, openTill, type TillFixture } from './support/till-fixture.ts'

let till: TillFixture
let home: string
const buyer = privateKeyToAccount(demoAccount('buyer').privateKey)

beforeAll(async () => {
  till = await openTill()
  home = await mkdtemp(join(tmpdir(), 'assay-witness-'))
}, 120_000)
afterAll(async () => {
  await till.close()
  await rm(home, { recursive: true, force: true })
})

const url = (path: string) => `${till.node.url}${path}`

async function buyAttestation(): Promise<CitationAttestation> {
  const { rows } = await till.db.database.query<{ url: string }>(
    `select v.url from page_version v join source s on s.domain = v.domain where s.state = 'proven' limit 1`,
  )
  const response = await buy(
    buyer,
    url('/v1/cite/attest'),
    {},
    {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ source_url: rows[0]?.url, agent_wallet: buyer.address }),
    },
  )
  const parsed = parseAttestation(await response.json())
  if (!parsed) throw new Error('not an attestation')
  return parsed
}

const outcome = async (file: CitationAttestation, options = {}) => {
  const { ok, checks } = await verifyAttestation(file, options)
  return { ok, ...Object.fromEntries(checks.map(({ name, status }) => [name, status])) }
}

test('a bought attestation verifies offline, and with witnesses once they have signed', async () => {
  const bought = await buyAttestation()
  expect(await outcome(bought)).toMatchObject({
    ok: true,
    record: 'passed',
    signature: 'passed',
    attester: 'passed',
    inclusion: 'passed',
    checkpoint: 'passed',
  })
  let later: CitationAttestation | undefined
  for (let n = 0; n < 100 && (later?.log as { witnesses?: unknown[] } | undefined)?.witnesses?.length !== 2; n += 1) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    later = parseAttestation(await (await fetch(url(`/v1/attestations/${bought.id}`))).json())
  }
  if (!later) throw new Error('not an attestation')
  const witnesses = later.log.witness_keys ?? []
  expect(await outcome(later, { witnesses })).toMatchObject({ ok: true, witnesses: 'passed' })
  const directory = await (await fetch(url('/.well-known/http-message-signatures-directory'))).json()
  expect(await outcome(later, { trustedDirectory: directory })).toMatchObject({ ok: true, keys: 'passed' })
})

test('what was bent afterwards does not verify', async () => {
  const bought = await buyAttestation()
  const bent = (change: (file: CitationAttestation) => void) => {
    const copy = structuredClone(bought)
    change(copy)
    return outcome(copy)
  }
  expect(await bent((file) => Object.assign(file.record, { title: 'another' }))).toMatchObject({
    ok: false,
    record: 'failed',
    inclusion: 'failed',
  })
  expect(await bent((file) => Object.assign(file.attestation.sig.message, { time: '1' }))).toMatchObject({
    signature: 'failed',
  })
  expect(await bent((file) => Object.assign(file.log, { leaf_index: '0' }))).toMatchObject({ inclusion: 'failed' })
  expect(
    await bent((file) => Object.assign(file.log, { checkpoint: file.log.checkpoint?.replace(/\n\d+\n/, '\n99\n') })),
  ).toMatchObject({ ok: false })
  expect(await bent((file) => Object.assign(file.attestation, { signer: buyer.address }))).toMatchObject({
    ok: false,
    signature: 'failed',
    attester: 'failed',
  })
  expect(await bent((file) => Object.assign(file.log, { keys: [] }))).toMatchObject({ checkpoint: 'failed' })
})

test('a witness with a state of its own signs growth, and nothing else', async () => {
  const { keys, origin } = (await (await fetch(url('/v1/log'))).json()) as { keys: string[]; origin: string }
  const witness = await openWitness({ name: 'witness.example', log: keys, home })
  const note = await (await fetch(url('/v1/log/checkpoint'))).text()
  const size = Number(note.split('\n')[1])
  const signed = await witness.addCheckpoint(addCheckpointBody(0, [], note))
  expect(signed).toMatchObject({ status: 200 })
  expect(signed.body).toContain('— witness.example ')
  // It remembers, also after a restart.
  const again = await openWitness({ name: 'witness.example', log: keys, home })
  expect(again.key.vkey).toBe(witness.key.vkey)
  expect(await again.addCheckpoint(addCheckpointBody(0, [], note))).toMatchObject({
    status: 409,
    body: `${size}\n`,
    contentType: 'text/x.tlog.size',
  })
  await buyAttestation()
  let newer = note
  // The newest tree head may be shared for a second.
  while (Number(newer.split('\n')[1]) === size) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    newer = await (await fetch(url('/v1/log/checkpoint'))).text()
  }
  const newSize = Number(newer.split('\n')[1])
  const { proof } = (await (await fetch(url(`/v1/log/consistency?from=${size}&to=${newSize}`))).json()) as {
    proof: string[]
  }
  const hashes = proof.map((text) => Buffer.from(text, 'base64'))
  expect(await again.addCheckpoint(addCheckpointBody(size, hashes.slice(1), newer))).toMatchObject({ status: 422 })
  expect(await again.addCheckpoint(addCheckpointBody(size, hashes, newer))).toMatchObject({ status: 200 })
  expect(await again.addCheckpoint('old 0\n\nnonsense')).toMatchObject({ status: 400 })
  expect(
    await again.addCheckpoint(addCheckpointBody(0, [], newer.replaceAll(origin, 'other.example/log'))),
  ).toMatchObject({ status: 404 })
  const forged = newer.replace(/\n\d+\n/, `\n${newSize + 1}\n`)
  expect(await again.addCheckpoint(addCheckpointBody(newSize, [], forged))).toMatchObject({ status: 403 })
})
