import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { parseEvidence, verifyAttestation, verifyEvidence } from '../packages/sdk/src/index.ts'
import { useFolder } from '../packages/till/src/kernel/use-folder.fixture.ts'
import { attest, introduction, responseKey, rotation, start } from './harness/evidence-world.ts'
import { openPythonVerifier, pythonClient, pythonMissing } from './harness/python-verifier.ts'
import { readEvidenceVectors } from './harness/read-evidence-vectors.ts'

const vectors = readEvidenceVectors()
const soundOf = (name: string) => JSON.stringify(vectors.find((one) => one.name === name)?.file)
const paid = soundOf('paid-attestation')
const alone = soundOf('attestation')
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

/** Files that a faulty or hostile tool could write. None is to pass, and none may stop a verifier. */
const odd: [string, string][] = [
  ['an address with a user name before the host', paid.replace('"url":"https://', '"url":"https://bank.example@')],
  ['the keys of the log as a text', alone.replace('"keys":[', '"keys":"none","keys_":[')],
  ['the keys of the log as an object', alone.replace('"keys":[', '"keys":{},"keys_":[')],
  [
    'a number that is none, in the record',
    paid
      .replace('"attestation":{"id"', '"attestation":{"n":1e400,"id"')
      .replaceAll('"cite_score":61.5', '"cite_score":1e400'),
  ],
  ['a type that only reads like one', alone.replace('"type":"assay.citation/v1"', '"type":["assay.citation/v1"]')],
  ['a record nested without end', alone.replace('"record":{', `"record":{"z":${nested(5_000)},`)],
  ['news nested without end', alone.replace('"weight":{', `"weight":{"z":${nested(5_000)},`)],
]

describe('an odd file', () => {
  let python: ReturnType<typeof openPythonVerifier>
  beforeAll(() => {
    if (!pythonMissing) python = openPythonVerifier()
  })
  afterAll(async () => {
    if (!pythonMissing) await python.close()
  })

  test.each(odd)(
    '%s does not verify, here or in Python',
    async (_, text) => {
      expect([paid, alone]).not.toContain(text)
      const evidence = parseEvidence(JSON.parse(text))
      expect(evidence === undefined ? false : (await verifyEvidence(evidence)).ok).toBe(false)
      if (!pythonMissing) expect((await python.verify(text)).ok).toBe(false)
    },
    60_000,
  )

  test('bytes that are not UTF-8 are no evidence: here, on the command line and in Python', async () => {
    // In a text that nothing signs: read leniently, the rest would verify.
    const bytes = Buffer.from(alone)
    const at = bytes.indexOf('waits for the next payout')
    expect(at).toBeGreaterThan(0)
    bytes[at] = 0xff
    expect(parseEvidence(new Uint8Array(Buffer.from(alone)))).toBeDefined()
    expect(parseEvidence(new Uint8Array(bytes))).toBeUndefined()
    const home = useFolder('bytes')
    const path = join(home, 'file.json')
    await writeFile(path, bytes)
    const terminal = createTestTerminal()
    expect(await runCli(['verify', path], terminal)).toBe(2)
    expect(terminal.stderr()).toContain('not valid UTF-8')
    if (!pythonMissing) {
      const run = spawnSync('python3', ['-m', 'assay_verify', path], { cwd: pythonClient, encoding: 'utf8' })
      expect([run.status, run.stderr]).toEqual([2, expect.stringContaining('not valid UTF-8')])
    }
  }, 60_000)

  test('a key that a trusted directory revokes stays revoked, whatever statements in the file say of it', async () => {
    const lostAt = start + 86_400
    const statements = [await introduction(), await rotation('response', 0, start + 100)]
    const file = attest({
      id: 'att_01jcxk6v3q8m5r7t9w2y4z6a8c',
      responseKey: 1,
      logKeys: [0],
      attestedAt: lostAt + 100,
      witnessedAt: lostAt + 102,
      statements,
    })
    const key = (n: number) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      kid: responseKey(n).keyId,
      x: responseKey(n).x,
      nbf: start,
    })
    const keys = [key(0), { ...key(1), revoked_at: new Date(lostAt * 1000).toISOString() }]
    const failed = (await verifyAttestation(file, { trustedDirectory: { keys } })).checks
      .filter(({ status }) => status === 'failed')
      .map(({ name }) => name)
    expect(failed).toEqual(['keys'])
    if (pythonMissing) return
    const home = useFolder('directory')
    await writeFile(join(home, 'keys.json'), JSON.stringify({ keys }))
    expect((await python.verify(JSON.stringify(file), ['--keys', join(home, 'keys.json')])).failed).toEqual(['keys'])
  }, 60_000)
})
