import { Problem } from '../kernel/problem.ts'
import type { Rng } from '../kernel/random.ts'
import type { Database, Sql } from '../store/database.ts'
import { appendToKeyFile, readKeyFile } from './key-file.ts'
import { generateSigningKey, type LocalSigningKey, type PrivateSigningKey, privateKeyFromSeed } from './signing-key.ts'

/** Keys that another process holds and signs with. */
export type RemoteSigningKeys = { load(): Promise<PrivateSigningKey[]> }

/** Where keys are: a file, or a process that holds them. */
export type KeyPlace = string | RemoteSigningKeys

/** Where private keys are: a file of the operator, a signer, or, for a demo node only, the shared database. */
export type PrivateKeyStore = {
  kind: 'given' | 'database'
  load(): Promise<PrivateSigningKey[]>
  /** One that was not published yet. */
  next(rng: Rng, isPublished: (keyId: string) => boolean): Promise<PrivateSigningKey>
  /** Before the public row is inserted, in a file: a published key must never lack its private half. */
  addBefore(key: PrivateSigningKey): Promise<void>
  /** With the public row, in the database. */
  addWith(sql: Sql, key: PrivateSigningKey): Promise<void>
}

export function createPrivateKeyStore(database: Database, place: KeyPlace | undefined): PrivateKeyStore {
  if (place === undefined) return inDatabase(database)
  return typeof place === 'string' ? inFile(place, database) : atSigner(place, database)
}

async function refuseDemoKeys(database: Database): Promise<void> {
  const { rows } = await database.query<{ n: bigint }>('select count(*) as n from keyring_demo_secret')
  if (rows[0] !== undefined && rows[0].n > 0n)
    throw new Error('this database carries demo signing keys; production needs its own database')
}

function inFile(path: string, database: Database): PrivateKeyStore {
  return {
    kind: 'given',
    load: async () => {
      await refuseDemoKeys(database)
      return readKeyFile(path)
    },
    next: async (rng) => generateSigningKey(rng),
    // Made by `next`, here.
    addBefore: (key) => appendToKeyFile(path, key as LocalSigningKey),
    addWith: async () => {},
  }
}

function atSigner(keys: RemoteSigningKeys, database: Database): PrivateKeyStore {
  return {
    kind: 'given',
    load: async () => {
      await refuseDemoKeys(database)
      return keys.load()
    },
    next: async (_rng, isPublished) => {
      const fresh = (await keys.load()).findLast(({ keyId }) => !isPublished(keyId))
      if (fresh) return fresh
      throw new Problem('bad_request', {
        detail: 'The signer holds no key that is not published yet: add one to its configuration and start it again.',
      })
    },
    addBefore: async () => {},
    addWith: async () => {},
  }
}

function inDatabase(database: Database): PrivateKeyStore {
  // They are read again with each read of the keyring, and a key takes longer to make than to read.
  const made = new Map<string, LocalSigningKey>()
  const keyOf = (d: string) => {
    const key = made.get(d) ?? privateKeyFromSeed(d)
    made.set(d, key)
    return key
  }
  return {
    kind: 'database',
    load: async () => {
      const { rows } = await database.query<{ private_d: string }>('select private_d from keyring_demo_secret')
      return rows.map((row) => keyOf(row.private_d))
    },
    next: async (rng) => generateSigningKey(rng),
    addBefore: async () => {},
    addWith: async (sql, key) => {
      const { keyId, d } = key as LocalSigningKey
      await sql.query('insert into keyring_demo_secret (key_id, private_d) values ($1, $2)', [keyId, d])
    },
  }
}
