import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { openWitness } from '../packages/cli/src/citations/run-witness.ts'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { addCheckpointBody } from '../packages/node/src/tlog/witness.ts'
import { type KeySet, readDirectory } from '../packages/protocol/src/keys/key-directory.ts'
import {
  type CitationAttestation,
  checkPromisedLeaf,
  type ExpectedReceipt,
  parseAttestation,
  parseVerifyPolicy,
  verifyAttestation,
  verifyReceipt,
} from '../packages/sdk/src/index.ts'
import { demoAccount } from '../packages/till/src/devnet/accounts.ts'
import { useFolder } from '../packages/till/src/kernel/use-folder.fixture.ts'
import { changedAt, leafPaths, removedAt } from './harness/change-field.ts'
import { postJson } from './harness/post-json.ts'
import { buy, decodeHeader } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

const buyer = privateKeyToAccount(demoAccount('buyer').privateKey)

const till = useTill({ ownShops: ['account', 'sandbox', 'log', 'sources', 'attestations', 'royalties'] })
const home = useFolder('witness')

const url = (path: string) => `${till.node.url}${path}`

async function buyEvidence(path: string, body: unknown): Promise<CitationAttestation> {
  const init = postJson(body)
  const parsed = parseAttestation(await (await buy(buyer, url(path), {}, init)).json())
  if (!parsed) throw new Error('not an attestation')
  return parsed
}

async function provenPages(): Promise<string[]> {
  const { rows } = await till.db.database.query<{ url: string }>(
    `select v.url from page_version v join source s on s.domain = v.domain where s.state = 'proven' order by v.url limit 3`,
  )
  return rows.map((row) => row.url)
}

const buyAttestation = async () =>
  buyEvidence('/v1/cite/attest', { source_url: (await provenPages())[0], agent_wallet: buyer.address })

const shownWitnesses = (file: CitationAttestation | undefined) =>
  (file?.log as { witnesses?: { cosigned_at: string }[] } | undefined)?.witnesses ?? []

/** The same file once both witnesses have signed. */
const whenWitnessed = (bought: CitationAttestation): Promise<CitationAttestation> =>
  until('signed by both witnesses', async () => {
    const file = parseAttestation(await (await fetch(String((bought as { url?: string }).url))).json())
    return file && shownWitnesses(file).length === 2 && file
  })

const outcome = async (file: CitationAttestation, options = {}) => {
  const { ok, checks } = await verifyAttestation(file, options)
  return { ok, ...Object.fromEntries(checks.map(({ name, status }) => [name, status])) }
}

test('a bought attestation verifies offline, and by default once witnesses have signed', async () => {
  const bought = await buyAttestation()
  const sound = {
    record: 'passed',
    attestation: 'passed',
    attester: 'passed',
    shown: 'passed',
    inclusion: 'passed',
    checkpoint: 'passed',
  }
  expect(await outcome(bought, { policy: parseVerifyPolicy('logged') })).toMatchObject({ ok: true, ...sound })
  expect(await outcome(bought)).toMatchObject({ ok: false, ...sound, witnesses: 'failed' })
  const later = await whenWitnessed(bought)
  expect(await outcome(later)).toMatchObject({ ok: true, ...sound, witnesses: 'passed' })
  const witnesses = later.log.witness_keys ?? []
  expect(await outcome(later, { witnesses })).toMatchObject({ ok: true, witnesses: 'passed' })
  expect(await outcome(later, { trustedDirectory: await directory() })).toMatchObject({ ok: true, keys: 'passed' })
})

type Directory = { keys: { kid: string; nbf: number; exp?: number }[] }
const directory = async () =>
  (await (await fetch(url('/.well-known/http-message-signatures-directory'))).json()) as Directory

test('a file that says it is not logged passed although a witness was demanded', async () => {
  const later = await whenWitnessed(await buyAttestation())
  const [witness = ''] = later.log.witness_keys ?? []
  const unlogged = { ...later, log: { state: 'pending', url: (later as unknown as { url: string }).url } }
  expect(await outcome(unlogged)).toMatchObject({ ok: false, log: 'failed' })
  const undemanding = { policy: parseVerifyPolicy('max-age=1d'), nowMs: Date.now() }
  expect(await outcome(unlogged, undemanding)).toMatchObject({ ok: true, log: 'not_checked' })
  expect(await outcome(unlogged, { witnesses: [witness] })).toMatchObject({ ok: false, log: 'failed' })
  for (const policy of ['logged', 'witnesses=1of1', 'anchor'])
    expect(await outcome(unlogged, { policy: parseVerifyPolicy(policy) })).toMatchObject({ ok: false, log: 'failed' })
  const verify = async (file: unknown, ...options: string[]) => {
    await writeFile(join(home, 'file.json'), JSON.stringify(file))
    return runCli(['verify', join(home, 'file.json'), ...options], createTestTerminal())
  }
  expect(await verify(later, '--witness', witness)).toBe(0)
  expect(await verify(unlogged)).toBe(5)
  expect(await verify(unlogged, '--policy', 'max-age=1d')).toBe(0)
  expect(await verify(unlogged, '--witness', witness)).toBe(5)
  expect(await verify(unlogged, '--policy', 'logged')).toBe(5)
  expect(await verify(later, '--witness', witness, '--policy', 'witnesses=1of1,max-age=1d')).toBe(0)
  expect(await verify(later, '--witness', witness, '--policy', 'witnesses=2of2')).toBe(5)
  expect(await verify(later, '--policy', 'witnesses=1')).toBe(2)
})

test('a key that was not valid when it signed, or when the head was signed, was accepted', async () => {
  const bought = await buyAttestation()
  const signedAt = Number(bought.attestation.sig.message.time)
  const later = await whenWitnessed(bought)
  const published = await directory()
  const seenAt = Math.min(...shownWitnesses(later).map((one) => Date.parse(one.cosigned_at) / 1000))
  const withKey = (change: { nbf?: number; exp?: number; revoked_at?: string }) => ({
    trustedDirectory: { ...published, keys: published.keys.map((key) => ({ ...key, ...change })) },
    policy: parseVerifyPolicy('key-valid'),
  })
  expect(await outcome(later, withKey({}))).toMatchObject({ ok: true, keys: 'passed', head_key: 'passed' })
  expect(await outcome(later, withKey({ exp: signedAt - 1 }))).toMatchObject({ ok: false, keys: 'failed' })
  expect(await outcome(later, withKey({ nbf: signedAt + 3_600 }))).toMatchObject({ ok: false, keys: 'failed' })
  const revokedAt = (seconds: number) => withKey({ exp: seconds, revoked_at: new Date(seconds * 1000).toISOString() })
  // A thief can name any time, and make a witness that does: what none that is trusted had seen before does not count.
  const witnesses = later.log.witness_keys as string[]
  expect(await outcome(later, { ...revokedAt(seenAt), witnesses })).toMatchObject({ ok: true, keys: 'passed' })
  expect(await outcome(later, { ...revokedAt(seenAt - 1), witnesses })).toMatchObject({ ok: false, keys: 'failed' })
  expect(await outcome(later, revokedAt(seenAt))).toMatchObject({ ok: false, keys: 'failed' })
  expect(await outcome(later, { policy: parseVerifyPolicy('key-valid') })).toMatchObject({ ok: false, keys: 'failed' })
})

test('a remittance had no signature and no keys to verify it with', async () => {
  const parent = await buyAttestation()
  const remitted = await buyEvidence('/v1/royalties/remit', { parent: parent.id, sale_price_micro: '1000000' })
  const later = await whenWitnessed(remitted)
  expect(
    await outcome(later, { witnesses: later.log.witness_keys, trustedDirectory: await directory() }),
  ).toMatchObject({
    ok: true,
    record: 'passed',
    attestation: 'passed',
    attester: 'passed',
    keys: 'passed',
    inclusion: 'passed',
    checkpoint: 'passed',
    witnesses: 'passed',
  })
})

/** As the anchoring job leaves it once the head is in a final block. */
async function anchorHead(file: CitationAttestation) {
  const [, size = '', root = ''] = (file.log.checkpoint ?? '').split('\n')
  const bytes = Buffer.from(root, 'base64')
  await till.db.owner.query(
    `insert into log_anchor (network, size, root, contract, state, transaction, sent_at, block_number, anchored_at)
     values ('eip155:8453', $1, $2, $3, 'anchored', $4, now(), 1, now())
     on conflict (network, size) do update set state = 'anchored', block_number = 1, anchored_at = now()`,
    [size, bytes, `0x${'00'.repeat(20)}`, `0x${'11'.repeat(32)}`],
  )
  return { size: Number(size), root: `0x${bytes.toString('hex')}` }
}

test('a policy that demands an anchor could not be met by a head that grew from it', async () => {
  const bought = await buyAttestation()
  const anchor = await anchorHead(bought)
  await buyAttestation()
  const later = await whenWitnessed(bought)
  const policy = parseVerifyPolicy('anchor')
  expect(await outcome(later, { policy, anchors: [anchor] })).toMatchObject({ ok: true, anchor: 'passed' })
  expect(await outcome(later, { policy })).toMatchObject({ ok: false, anchor: 'failed' })
  const forked = { ...anchor, root: `0x${'22'.repeat(32)}` }
  expect(await outcome(later, { anchors: [forked] })).toMatchObject({ ok: false, anchor: 'failed' })
  expect(await outcome(later, { policy, anchors: [{ ...forked, size: anchor.size + 1_000 }] })).toMatchObject({
    ok: false,
  })
})

test('the receipt of a stamp names its leaf, so that a leaf that is dropped is proven', async () => {
  const sell = async (path: string, body: unknown) => {
    const init = postJson(body)
    const answer = await buy(buyer, url(path), {}, init)
    const file = parseAttestation(await answer.json()) as CitationAttestation
    const settlement = decodeHeader<SettlementHeader>(answer.headers.get('payment-response'))
    const keys: KeySet = new Map(readDirectory(await directory()).keys.map((key) => [key.keyId, key]))
    const jws = settlement.extensions['offer-receipt'].info.receipt.signature
    const { origin = '', leaf_hash: leaf = '' } = file.log as { origin?: string; leaf_hash?: string }
    const verify = (expected: ExpectedReceipt) =>
      verifyReceipt(jws, { keys, authority: new URL(till.node.url).host, expected })
    return { file, origin, leaf, verify, receipt: await verify({ log: { origin, leaf_hash: leaf } }) }
  }
  const page = (await provenPages())[0]
  const stamp = await sell('/v1/cite/attest', { source_url: page, agent_wallet: buyer.address })
  const claim = await sell('/v1/claims/anchor', { statement: 'x', sources: [page], agent_wallet: buyer.address })
  const remittance = await sell('/v1/royalties/remit', { parent: stamp.file.id, sale_price_micro: '1000000' })
  for (const { receipt, file, origin, leaf, verify } of [stamp, claim, remittance]) {
    if (receipt.status !== 'verified') throw new Error(receipt.reason)
    expect(receipt.receipt.log).toEqual({ origin, leaf_hash: leaf })
    expect(checkPromisedLeaf(receipt.receipt, file)).toMatchObject({ status: 'passed' })
    const other = { ...file, record: { ...file.record, id: 'att_other' } }
    expect(checkPromisedLeaf(receipt.receipt, other)).toMatchObject({ status: 'failed' })
    expect(await verify({ log: { origin, leaf_hash: 'x' } })).toMatchObject({ reason: 'log is another one' })
  }
  const echo = await buy(buyer, url('/v1/sandbox/echo'))
  const plain = decodeHeader<SettlementHeader>(echo.headers.get('payment-response')).extensions['offer-receipt']
  const [, payload = ''] = plain.info.receipt.signature.split('.')
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).not.toHaveProperty('log')
})

test('a saved answer is compared with the leaf in its receipt', async () => {
  const file = join(home, 'answer.json')
  const body = JSON.stringify({ source_url: (await provenPages())[0], agent_wallet: buyer.address })
  const header = 'Content-Type: application/json'
  const bought = createTestTerminal()
  const args = ['buy', url('/v1/cite/attest'), '-X', 'POST', '-d', body, '-H', header, '--demo', '--save', file]
  expect(await runCli(args, bought), bought.stderr()).toBe(0)
  const verified = createTestTerminal()
  expect(await runCli(['verify', file, '--json'], verified)).toBe(0)
  const { checks } = JSON.parse(verified.stdout()) as { checks: { name: string; status: string }[] }
  expect(checks.find(({ name }) => name === 'leaf')).toMatchObject({ status: 'passed' })
})

type SettlementHeader = { extensions: { 'offer-receipt': { info: { receipt: { signature: string } } } } }

async function isNoticed(changed: unknown, isAbout: (field: string) => boolean): Promise<boolean> {
  const file = parseAttestation(changed)
  if (!file) return true
  const { ok, notCovered = [] } = await verifyAttestation(file)
  return !ok || notCovered.some(isAbout)
}

test('a changed or removed field of an evidence file went unnoticed', async () => {
  const citation = await buyAttestation()
  await anchorHead(citation)
  const claim = await buyEvidence('/v1/claims/anchor', {
    statement: 'Borrowing became dearer.',
    sources: await provenPages(),
    agent_wallet: buyer.address,
  })
  const remittance = await buyEvidence('/v1/royalties/remit', { parent: claim.id, sale_price_micro: '1000000' })
  for (const bought of [citation, claim, remittance]) {
    const file = await whenWitnessed(bought)
    const before = await verifyAttestation(file)
    expect(before.ok).toBe(true)
    const known = new Set(before.notCovered)
    const unnoticed: string[] = []
    // The log says the same of every kind of file.
    const paths = leafPaths(file).filter((path) => file.id === citation.id || !path.startsWith('log.'))
    for (const path of paths) {
      // Each kind of file has every field changed; one has them changed in every way.
      const changed = changedAt(file, path).slice(0, file.id === citation.id ? undefined : 1)
      for (const other of changed)
        if (!(await isNoticed(other, (field) => field.startsWith(path)))) unnoticed.push(path)
      // A removed field cannot be listed, but what rested on it can.
      if (
        file.id === citation.id &&
        !known.has(path) &&
        !(await isNoticed(removedAt(file, path), (field) => !known.has(field)))
      )
        unnoticed.push(`without ${path}`)
    }
    expect(unnoticed).toEqual([])
    // Listing everything as not covered would be no verification.
    expect(
      (before.notCovered ?? []).filter(
        (path) =>
          !/^(?:weight|payouts\[\d\]|log\.anchor\.(?:network|contract|transaction|size)$|remitted_for_this)/.test(path),
      ),
    ).toEqual([])
  }
}, 240_000)

test('what was altered afterwards does not verify', async () => {
  const bought = await buyAttestation()
  const altered = (change: (file: CitationAttestation) => void) => {
    const copy = structuredClone(bought)
    change(copy)
    return outcome(copy)
  }
  expect(await altered((file) => Object.assign(file.record, { title: 'another' }))).toMatchObject({
    ok: false,
    record: 'failed',
    inclusion: 'failed',
  })
  expect(await altered((file) => Object.assign(file.attestation.sig.message, { time: '1' }))).toMatchObject({
    attestation: 'failed',
  })
  expect(await altered((file) => Object.assign(file.log, { leaf_index: '0' }))).toMatchObject({ inclusion: 'failed' })
  expect(
    await altered((file) => Object.assign(file.log, { checkpoint: file.log.checkpoint?.replace(/\n\d+\n/, '\n99\n') })),
  ).toMatchObject({ ok: false })
  expect(await altered((file) => Object.assign(file.attestation, { signer: buyer.address }))).toMatchObject({
    ok: false,
    attestation: 'failed',
    attester: 'failed',
  })
  expect(await altered((file) => Object.assign(file.log, { keys: [] }))).toMatchObject({ checkpoint: 'failed' })
})

test('a witness with its own state signs growth, and nothing else', async () => {
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
  // The newest tree head may be shared for a second.
  const newer = await until('a newer tree head', async () => {
    const head = await (await fetch(url('/v1/log/checkpoint'))).text()
    return Number(head.split('\n')[1]) > size && head
  })
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
