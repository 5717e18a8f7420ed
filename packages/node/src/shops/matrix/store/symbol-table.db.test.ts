import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSymbolTable } from './symbol-table.ts'

let db: TestDatabase

beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db?.close())

test('after a restart, a file with a late symbol before the first refresh hid all earlier symbols', async () => {
  const before = createSymbolTable()
  const [early, late] = await before.idsOf(db.database, ['AAA', 'ZZZ'])
  const after = createSymbolTable()
  await after.idsOf(db.database, ['ZZZ'])
  await after.refresh(db.database)
  expect(after.symbolOf(early as number)).toBe('AAA')
  expect(after.symbolOf(late as number)).toBe('ZZZ')
  expect(after.last()).toBe(Math.max(early as number, late as number))
})
