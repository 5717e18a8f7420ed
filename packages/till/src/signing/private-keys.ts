import type { Database, Sql } from '../store/database.ts'
import { appendToKeyFile, readKeyFile } from './key-file.ts'
import { type PrivateSigningKey, privateKeyFromSeed } from './signing-key.ts'

/** Where private keys are: a file of the operator, or, for a demo node only, the shared database. */
export type PrivateKeyStore = {
  kind: 'file' | 'database'
  load(): Promise<PrivateSigningKey[]>
  /** Before the public row is inserted, in a file: a published key must never lack its private half. */
  addBefore(key: PrivateSigningKey): Promise<void>
  /** With the public row, in the database. */
  addWith(sql: Sql, key: PrivateSigningKey): Promise<void>
}

export function createPrivateKeyStore(database: Database, keyFile: string | undefined): PrivateKeyStore {
  return keyFile === undefined ? inDatabase(database) : inFile(keyFile, database)
}

function inFile(path: string, database: Database): PrivateKeyStore {
  return {
    kind: 'file',
    load: async () => {
      const { rows } = await database.query<{ n: bigint }>('select count(*) as n from keyring_demo_secret')
      if (rows[0] !== undefined && rows[0].n > 0n)
        throw new Error('this database carries demo signing keys; production needs a database of its own')
      return readKeyFile(path)
    },
    addBefore: (key) => appendToKeyFile(path, key),
    addWith: async () => {},
  }
}

function inDatabase(database: Database): PrivateKeyStore {
  return {
    kind: 'database',
    load: async () => {
      const { rows } = await database.query<{ private_d: string }>('select private_d from keyring_demo_secret')
      return rows.map((row) => privateKeyFromSeed(row.private_d))
    },
    addBefore: async () => {},
    addWith: async (sql, key) => {
      await sql.query('insert into keyring_demo_secret (key_id, private_d) values ($1, $2)', [key.keyId, key.d])
    },
  }
}
