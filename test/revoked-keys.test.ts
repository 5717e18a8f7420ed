import { expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { createKeyring, privateKeyFromSeed, silentLog, systemClock, systemRng } from '../packages/node/src/index.ts'
import { silentMetrics } from '../packages/till/src/kernel/metrics.ts'
import { recordRestore } from '../packages/till/src/store/restore.ts'
import { useTestDatabase } from '../packages/till/src/store/use-database.fixture.ts'

const db = await useTestDatabase()

/** Key ids are base64url, so one in 64 starts with a dash. These seeds give ids that look like options. */
const seeds = [492, 1_885, 4_626, 5_880, 7_923]

const seedOf = (number: number) => {
  const seed = Buffer.alloc(32)
  seed.writeUInt32BE(number, 28)
  return seed
}

async function assay(...args: string[]) {
  const terminal = createTestTerminal({
    env: {
      DATABASE_URL: db.databaseUrl,
      BASE_RPC_URLS: 'http://127.0.0.1:1',
      POLYGON_RPC_URLS: 'http://127.0.0.1:2',
      BASE_URL: 'http://127.0.0.1:4020',
      USER: 'tester',
    },
  })
  return { code: await runCli(args, terminal), out: terminal.stdout(), err: terminal.stderr() }
}

/** The key that `seed` gives, published and in use. */
async function publish(seed: Buffer): Promise<string> {
  const { keyId, x, d } = privateKeyFromSeed(seed.toString('base64url'))
  await db.owner.query(
    'insert into keyring (key_id, public_x, created_at, activates_at) values ($1, $2, now(), now())',
    [keyId, x],
  )
  await db.owner.query('insert into keyring_demo_secret (key_id, private_d) values ($1, $2)', [keyId, d])
  return keyId
}

test('a key whose id starts with a dash is revoked, and not listed as the one that signs', async () => {
  const ports = { database: db.database, clock: systemClock, rng: systemRng, log: silentLog }
  await (await createKeyring(ports)).close()
  for (const seed of seeds) {
    const keyId = await publish(seedOf(seed))
    expect(keyId).toMatch(/^-/)
    const before = await assay('keys', 'list')
    expect(before.out, before.err).toMatch(new RegExp(`^${keyId}\\s+signs now`, 'm'))
    const revoked = await assay('keys', 'revoke', keyId, '--yes', '--json')
    expect(revoked, revoked.err).toMatchObject({ code: 0 })
    expect(JSON.parse(revoked.out)).toMatchObject({ revoked: keyId })
    expect((await assay('keys', 'list')).out).toMatch(new RegExp(`^${keyId}\\s+revoked`, 'm'))
  }
})

test('options of `keys revoke` are read as before, wherever the key id is', async () => {
  const keyId = await publish(seedOf(33))
  for (const args of [
    ['--dry-run', keyId],
    [keyId, '--dry-run'],
    ['--dry-run', '--', keyId],
    ['--at', '2026-01-31T12:00:00Z', keyId, '--dry-run'],
  ])
    expect((await assay('keys', 'revoke', ...args)).out, args.join(' ')).toContain(`Revoke ${keyId}`)
  expect(await assay('keys', 'revoke', keyId, '--nonsense')).toMatchObject({ code: 2 })
  expect(await assay('keys', 'revoke', '-x')).toMatchObject({ code: 2 })
})

test('after a restore the doctor names what may be valid again, until the tokens are new', async () => {
  const warnings = async () => {
    const { out } = await assay('doctor', '--json')
    const { checks } = JSON.parse(out) as { checks: { name: string; status: string; detail: string }[] }
    return checks.filter(({ name }) => name === 'restore').map(({ status, detail }) => `${status}: ${detail}`)
  }
  expect(await warnings()).toEqual([])
  await recordRestore(
    db.database,
    { clock: systemClock, log: silentLog, metrics: silentMetrics },
    { network: 'eip155:8453', untilBlock: 1n, reason: 'test' },
  )
  expect(await warnings()).toEqual([expect.stringMatching(/^warn: restored on .*tokens.* are valid again/)])
  expect(await assay('keys', 'revoke-tokens', '--yes')).toMatchObject({ code: 0 })
  expect(await warnings()).toEqual([])
})
