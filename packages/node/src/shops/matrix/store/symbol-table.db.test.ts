import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { createSymbolTable } from './symbol-table.ts'

const db = await useTestDatabase()

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
