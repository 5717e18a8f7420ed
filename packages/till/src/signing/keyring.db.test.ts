import { chmod, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Address } from '@assay/protocol/address'
import { followKeys } from '@assay/protocol/keys/follow-keys'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import type { Clock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { systemRng } from '../kernel/random.ts'
import { useFolder } from '../kernel/use-folder.fixture.ts'
import type { Database } from '../store/database.ts'
import { openTestDatabase, type TestDatabase } from '../store/testing.ts'
import { didDocument } from './did-document.ts'
import { introduceLogKey } from './introduce-log-key.ts'
import { keyDirectory } from './key-directory.ts'
import type { StatementWallet } from './key-statement.ts'
import { verifyKeyStatement } from './key-statement.ts'
import { createKeyring } from './keyring.ts'
import { createResponseSigner } from './response-signer.ts'
import { revokeKey } from './revoke-key.ts'
import { type KeyChangeDeps, rotateKey } from './rotate-key.ts'
import { generateSigningKey } from './signing-key.ts'
import type { StatementLog } from './statement-log.ts'

const operator = privateKeyToAccount(`0x${'0a'.repeat(32)}`)
const identity = {
  node: 'http://127.0.0.1:4020',
  api: 'http://127.0.0.1:4020',
  chainId: 8453,
  operator: operator.address.toLowerCase() as Address,
}
const wallet: StatementWallet = { address: identity.operator, signTypedData: (data) => operator.signTypedData(data) }

/** A clock that is fixed until it is moved; sleepers wait for the abort. */
function movableClock() {
  let nowMs = 1_800_000_000_000
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (_, signal) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
  }
  return {
    clock,
    advance: (ms: number) => {
      nowMs += ms
    },
  }
}

function logNamed(origin: string | null): StatementLog & { kinds: string[] } {
  const kinds: string[] = []
  return {
    kinds,
    position: async () => ({ origin, size: kinds.length }),
    append: async (_, drafts) => {
      kinds.push(...drafts.map(({ kind }) => kind))
    },
  }
}

let opened: TestDatabase[] = []

async function openKeyring(keyFile?: string) {
  const db = await openTestDatabase({ poolSize: 4 })
  opened.push(db)
  const { clock, advance } = movableClock()
  const options = {
    database: db.database,
    clock,
    rng: systemRng,
    log: silentLog,
    ...(keyFile === undefined ? {} : { keyFile }),
  }
  const keyring = await createKeyring(options)
  const deps: KeyChangeDeps = { ...options, keyring, identity, wallet, statementLog: logNamed(null) }
  return { db, clock, advance, keyring, deps, options }
}

const folder = useFolder('keys')
afterAll(async () => {
  await Promise.all(opened.map((db) => db.close()))
  opened = []
})

test('all processes share the first key, and a demo node needs no key file', async () => {
  const { keyring, options } = await openKeyring()
  const second = await createKeyring(options)
  expect(second.active().keyId).toBe(keyring.active().keyId)
  expect(keyDirectory(keyring).keys).toHaveLength(1)
  await Promise.all([keyring.close(), second.close()])
})

test('a rotation is published before it is used, signed by the old key and the wallet, and followed without restart', async () => {
  const { keyring, clock, advance, deps, options } = await openKeyring()
  const other = await createKeyring(options)
  const signer = createResponseSigner(other, { clock })
  const oldKeyId = keyring.active().keyId
  const { keyId } = await rotateKey(deps)
  await expect.poll(() => keyDirectory(other).keys.map((key) => key.kid)).toContain(keyId)
  expect(signer.keyId()).toBe(oldKeyId)
  await expect(rotateKey(deps)).rejects.toThrow('under way')

  advance(600_000)
  expect(signer.keyId()).toBe(keyId)
  const [newest, oldest] = keyDirectory(other).keys
  expect(newest).toMatchObject({ kid: keyId, nbf: 1_800_000_600 })
  expect(oldest).toMatchObject({ kid: oldKeyId, exp: 1_800_000_660 })

  const [statement] = keyring.statements()
  if (statement === undefined) throw new Error('a rotation leaves a statement')
  const publicKeyOf = (id: string) => keyring.keys().find((key) => key.keyId === id)?.x
  expect(statement.message.predecessor).toBe(oldKeyId)
  expect(await verifyKeyStatement(statement, { ...identity, publicKeyOf })).toBe(true)
  expect(await verifyKeyStatement(statement, { ...identity, node: 'http://other', publicKeyOf })).toBe(false)
  expect(await verifyKeyStatement(statement, { ...identity, publicKeyOf: () => undefined })).toBe(false)
  const forged = { ...statement, message: { ...statement.message, publicKey: generateSigningKey(systemRng).x } }
  expect(await verifyKeyStatement(forged, { ...identity, publicKeyOf })).toBe(false)
  await Promise.all([keyring.close(), other.close()])
})

test('a stolen key is revoked by the wallet with a time, and a new one signs at once in every process', async () => {
  const { keyring, clock, deps, options } = await openKeyring()
  const other = await createKeyring(options)
  const stolen = keyring.active().keyId
  const revokedAtMs = clock.nowMs() - 3_600_000
  const { activeKeyId } = await revokeKey(deps, { keyId: stolen, revokedAtMs })
  expect(activeKeyId).not.toBe(stolen)
  await expect.poll(() => other.active().keyId).toBe(activeKeyId)
  const listed = keyDirectory(other).keys.find((key) => key.kid === stolen)
  expect(listed).toMatchObject({ revoked_at: new Date(revokedAtMs).toISOString(), exp: revokedAtMs / 1000 })
  const document = didDocument(other, '127.0.0.1:4020', clock.nowMs())
  expect(document.assertionMethod).toEqual([`did:web:127.0.0.1%3A4020#${activeKeyId}`])
  expect(keyring.statements().map(({ message }) => message.action)).toEqual(['revoke', 'add'])
  await Promise.all([keyring.close(), other.close()])
})

test('nobody but the operator wallet can change keys', async () => {
  const { keyring, deps } = await openKeyring()
  const stranger = privateKeyToAccount(`0x${'0b'.repeat(32)}`)
  const bad = {
    ...deps,
    wallet: { address: identity.operator, signTypedData: stranger.signTypedData } as StatementWallet,
  }
  await expect(rotateKey(bad)).rejects.toMatchObject({ code: 'proof_invalid' })
  await expect(revokeKey(bad, { keyId: keyring.active().keyId, revokedAtMs: 0 })).rejects.toMatchObject({
    code: 'proof_invalid',
  })
  expect(keyring.keys()).toHaveLength(1)
  await keyring.close()
})

test('in production private keys stay in the file: 0600, appended by a rotation, never in the database', async () => {
  const keyFile = join(folder, 'keys.pem')
  const first = generateSigningKey(systemRng)
  await writeFile(keyFile, first.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
  const { keyring, db, deps, advance, options } = await openKeyring(keyFile)
  expect(keyring.active().keyId).toBe(first.keyId)
  const { keyId } = await rotateKey(deps)
  advance(600_000)
  expect(keyring.active().keyId).toBe(keyId)
  expect(keyring.complete()).toBe(true)
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600)
  const { rows } = await db.database.query('select 1 from keyring_demo_secret')
  expect(rows).toEqual([])
  await chmod(keyFile, 0o644)
  await expect(createKeyring(options)).rejects.toThrow('0600')
  await keyring.close()
})

test('a process whose key file lacks the key that is due says so and keeps signing', async () => {
  const [here, there] = [join(folder, 'here.json'), join(folder, 'there.json')]
  const { d } = generateSigningKey(systemRng)
  for (const path of [here, there])
    await writeFile(path, JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', d }] }), { mode: 0o600 })
  const { keyring, advance, deps, options } = await openKeyring(here)
  const other = await createKeyring({ ...options, keyFile: there })
  await rotateKey(deps)
  await other.refresh()
  advance(600_000)
  expect(other.active().keyId).not.toBe(keyring.active().keyId)
  expect([keyring.complete(), other.complete()]).toEqual([true, false])
  await Promise.all([keyring.close(), other.close()])
})

test('the application can neither rewrite nor remove keys and statements', async () => {
  const { keyring, db, deps } = await openKeyring()
  await rotateKey(deps)
  for (const statement of [
    "update keyring set public_x = repeat('A', 43)",
    'delete from keyring',
    "update key_statement set wallet = '0x'",
    'delete from key_statement',
    'update keyring_demo_secret set private_d = private_d',
  ])
    await expect(db.database.query(statement), statement).rejects.toThrow(/permission denied|refused/)
  await keyring.close()
})

test('a key revoked while its successor waits is replaced at once, and the replacement stays in use', async () => {
  const { keyring, clock, advance, deps } = await openKeyring()
  await rotateKey(deps)
  const { activeKeyId } = await revokeKey(deps, { keyId: keyring.active().keyId, revokedAtMs: clock.nowMs() })
  expect(keyring.active().keyId).toBe(activeKeyId)
  advance(700_000)
  expect(keyring.active().keyId).toBe(activeKeyId)
  expect(keyring.complete()).toBe(true)
  await keyring.close()
})

test('a key revoked right after its rotation left the node with one that is about to retire', async () => {
  const { keyring, clock, advance, deps } = await openKeyring()
  await rotateKey(deps)
  advance(600_000)
  const { activeKeyId } = await revokeKey(deps, { keyId: keyring.active().keyId, revokedAtMs: clock.nowMs() })
  advance(120_000)
  await keyring.refresh()
  expect(keyring.active().keyId).toBe(activeKeyId)
  expect(keyring.complete()).toBe(true)
  await keyring.close()
})

test('the log has its own keyring: used at once beside the old key, and neither replaces the other', async () => {
  const { keyring, advance, deps, options } = await openKeyring()
  const statementLog = logNamed('node.test/v1/log')
  const log = await createKeyring({ ...options, purpose: 'log' })
  await introduceLogKey(
    { database: deps.database, keyring, logKeyring: log, identity, statementLog },
    'node.test/v1/log',
  )
  const first = log.active().keyId
  advance(1_000)
  const { keyId } = await rotateKey({ ...deps, keyring: log, statementLog }, { overlapMs: 60_000 })
  expect(log.signers().map((key) => key.keyId)).toEqual([keyId, first])
  expect(keyring.keys()).toHaveLength(1)
  advance(61_000)
  expect(log.signers().map((key) => key.keyId)).toEqual([keyId])
  expect(log.statements().map(({ message }) => [message.action, message.purpose, message.predecessor])).toEqual([
    ['add', 'log', keyring.active().keyId],
    ['rotate', 'log', first],
  ])
  expect(statementLog.kinds).toEqual(['log_key', 'log_key'])
  await Promise.all([keyring.close(), log.close()])
})

test('a log that begins again under another name has its key named for that too, once', async () => {
  const { keyring, advance, deps, options } = await openKeyring()
  const statementLog = logNamed('node.test/v1/log')
  const log = await createKeyring({ ...options, purpose: 'log' })
  const introduce = (origin: string) =>
    introduceLogKey({ database: deps.database, keyring, logKeyring: log, identity, statementLog }, origin)
  await introduce('node.test/v1/log')
  advance(1_000)
  const { keyId } = await rotateKey({ ...deps, keyring: log, statementLog }, { overlapMs: 1_000 })
  advance(2_000)
  for (let start = 0; start < 2; start += 1) await introduce('node.test/v1/log-2')
  expect(log.statements().map(({ message }) => [message.action, message.origin])).toEqual([
    ['add', 'node.test/v1/log'],
    ['rotate', 'node.test/v1/log'],
    ['add', 'node.test/v1/log-2'],
  ])
  const { keys } = await followKeys(log.statements(), {
    keys: [{ keyId: keyring.active().keyId, x: keyring.active().x, purpose: 'response' }],
    wallets: [],
    revokedBy: 'anybody',
  })
  expect(keys.get(keyId)).toMatchObject({ origin: 'node.test/v1/log-2' })
  await Promise.all([keyring.close(), log.close()])
})

test('the file of the log may not hold the key that signs answers', async () => {
  const keyFile = join(folder, 'shared.json')
  const { d } = generateSigningKey(systemRng)
  await writeFile(keyFile, JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', d }] }), { mode: 0o600 })
  const { keyring, options } = await openKeyring(keyFile)
  await expect(createKeyring({ ...options, purpose: 'log' })).rejects.toThrow('another purpose')
  await keyring.close()
})

test('a read that began before a revocation and ends after it does not bring the revoked key back', async () => {
  const { keyring, db, clock, deps, options } = await openKeyring()
  let hold: Promise<void> | undefined
  const slow: Database = {
    ...db.database,
    query: async <Row>(...given: Parameters<Database['query']>) => {
      const held = hold
      const result = await db.database.query<Row>(...given)
      await held
      return result
    },
  }
  const other = await createKeyring({ ...options, database: slow })
  const stolen = keyring.active().keyId
  let release = () => {}
  hold = new Promise((resolve) => {
    release = resolve
  })
  const late = other.refresh()
  hold = undefined
  const { activeKeyId } = await revokeKey(deps, { keyId: stolen, revokedAtMs: clock.nowMs() })
  await other.refresh()
  expect(other.active().keyId).toBe(activeKeyId)
  release()
  await late
  expect(other.active().keyId).toBe(activeKeyId)
  await Promise.all([keyring.close(), other.close()])
})
