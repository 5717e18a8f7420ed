import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keepQuality, qualityIsDue } from './quality-store.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase({ poolSize: 2 })
})
afterAll(() => db.close())

test('a node without prices measures once, and again only when prices came in', async () => {
  expect(await qualityIsDue(db.database)).toBe(true)
  await keepQuality(db.database, 'squeeze', Date.parse('2026-03-02T12:00:00Z'), {})
  expect(await qualityIsDue(db.database)).toBe(false)
  const ingest = (at: string) =>
    db.owner.query(
      `set local session_replication_role = replica;
       insert into matrix_file (source, part, period, as_of, revision, available_at, available_basis, ingested_at, sha256, name,
         row_count, byte_count, skipped, synthetic)
       values ('prices', '', '${at.slice(0, 10)}', '${at}', 1, '${at}', 'observed', '${at}', decode(repeat('00', 32), 'hex'), 'prices', 1, 1, '{}', false)`,
    )
  await ingest('2026-03-02T11:00:00Z')
  expect(await qualityIsDue(db.database)).toBe(false)
  await ingest('2026-03-03T11:00:00Z')
  expect(await qualityIsDue(db.database)).toBe(true)
})
