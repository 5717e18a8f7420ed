import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { openWitness } from '../packages/cli/src/citations/run-witness.ts'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { addCheckpointBody } from '../packages/node/src/tlog/witness.ts'
import { type Evidence, verifyEvidence } from '../packages/sdk/src/index.ts'
import { useFolder } from '../packages/till/src/kernel/use-folder.fixture.ts'
import { useTill } from './harness/use-till.ts'
import { boughtAndWitnessed } from './promises/rotate.ts'

const till = useTill({ ownShops: ['account', 'sandbox', 'log', 'sources', 'attestations', 'royalties'] })
const home = useFolder('log-key')

async function assay(...args: string[]) {
  const terminal = createTestTerminal({
    env: {
      DATABASE_URL: till.db.databaseUrl,
      BASE_RPC_URLS: 'http://127.0.0.1:1',
      POLYGON_RPC_URLS: 'http://127.0.0.1:2',
      BASE_URL: till.node.url,
      USER: 'tester',
    },
  })
  return { code: await runCli(args, terminal), out: terminal.stdout(), err: terminal.stderr() }
}

type Log = { keys: string[]; origin: string; key_statements: { action: string; purpose: string }[] }
const readLog = async () => (await (await fetch(`${till.node.url}/v1/log`)).json()) as Log
const readHead = async () => (await fetch(`${till.node.url}/v1/log/checkpoint`)).text()
const ownLines = (note: string, origin: string) => note.split('\n').filter((line) => line.startsWith(`— ${origin} `))

/** What a witness that saw the tree at `from` is shown of it now. */
async function growth(from: number): Promise<{ note: string; body: string; size: number }> {
  const note = await readHead()
  const size = Number(note.split('\n')[1])
  const answer = await fetch(`${till.node.url}/v1/log/consistency?from=${from}&to=${size}`)
  const { proof } = (await answer.json()) as { proof: string[] }
  const hashes = proof.map((text) => Buffer.from(text, 'base64'))
  return { note, size, body: addCheckpointBody(from, hashes, note) }
}

test('the key of the log is rotated and revoked by command, and a witness that knew the first follows', async () => {
  await boughtAndWitnessed(till)
  const { keys, origin } = await readLog()
  const [firstKey = ''] = keys
  const witness = await openWitness({ name: 'witness.example', log: [firstKey], home })
  const first = await growth(0)
  expect(await witness.addCheckpoint(addCheckpointBody(0, [], first.note))).toMatchObject({ status: 200 })

  const rotated = await assay('log', 'rotate-key', '--yes', '--json', '--overlap', '0.05')
  expect(rotated, rotated.err).toMatchObject({ code: 0 })
  const { rows: audit } = await till.db.owner.query("select 1 from audit_log where action = 'log.rotate_key'")
  expect(audit).toHaveLength(1)
  await vi.waitFor(async () => expect((await readLog()).keys).toHaveLength(2), { timeout: 20_000 })
  const listed = await assay('keys', 'list', '--json')
  expect(JSON.parse(listed.out).log.active_key_id).toBe(JSON.parse(rotated.out).key_id)

  // Until the overlap has ended, and a head bears the new key alone.
  await vi.waitFor(
    async () => {
      await boughtAndWitnessed(till)
      expect(ownLines(await readHead(), origin)).toHaveLength(1)
    },
    { timeout: 60_000, interval: 1_000 },
  )
  const later = await growth(first.size)
  expect(later.size).toBeGreaterThan(first.size)
  expect(await witness.addCheckpoint(later.body)).toMatchObject({ status: 200 })

  const revoked = await assay('keys', 'revoke', JSON.parse(rotated.out).key_id, '--yes', '--json')
  expect(revoked, revoked.err).toMatchObject({ code: 0 })
  await boughtAndWitnessed(till)
  await vi.waitFor(
    async () => {
      const last = await growth(later.size)
      // It asks the log again at most every few seconds.
      expect(await witness.addCheckpoint(last.body)).toMatchObject({ status: 200 })
    },
    { timeout: 60_000, interval: 1_000 },
  )
  expect((await readLog()).key_statements.map(({ action, purpose }) => `${action} ${purpose}`)).toEqual([
    'add log',
    'rotate log',
    'revoke log',
    'add log',
  ])
}, 240_000)

test('evidence of a citation failed the default policy, for no witness had signed when it was written', async () => {
  const { rows } = await till.db.database.query<{ url: string }>(
    `select v.url from page_version v join source s on s.domain = v.domain where s.state = 'proven' order by v.url limit 1`,
  )
  const file = join(home, 'citation.json')
  const cited = await assay('cite', rows[0]?.url ?? '', '--url', till.node.url, '--demo', '--out', file)
  expect(cited, cited.err).toMatchObject({ code: 0 })
  expect(cited.err).toContain('2 of 2 witnesses have signed')
  const evidence = JSON.parse(await readFile(file, 'utf8')) as Evidence
  const { ok, checks } = await verifyEvidence(evidence)
  expect(ok, JSON.stringify(checks)).toBe(true)
  expect(checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'signature',
      'receipt',
      'payment',
      'binding',
      'answer',
      'inclusion',
      'witnesses',
      'head_key',
    ]),
  )
  expect((await assay('verify', file)).code).toBe(0)
  expect((await assay('verify', file, '--online', '--policy', 'logged,key-valid')).code).toBe(0)
}, 120_000)
