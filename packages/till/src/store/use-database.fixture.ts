import { afterAll } from 'vitest'
import { openTestDatabase, type TestDatabase } from './testing.ts'

/** A database for all tests of a file, closed after whatever the file itself does at the end. */
export async function useTestDatabase(options?: { poolSize?: number }): Promise<TestDatabase> {
  const db = await openTestDatabase(options)
  afterAll(() => db.close())
  return db
}
