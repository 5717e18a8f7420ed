import type { Sql } from '@assay/till/store/database'
import { expect, test } from 'vitest'
import type { FileRecord } from '../store/files.ts'
import { createFileCache } from './file-cache.ts'

const file = { id: 1 } as FileRecord

/** A database without rows, that counts how often it is asked for those of a file. */
function countedSql() {
  const asked = { files: 0 }
  const query = async (statement: string | { name?: string }) => {
    if (typeof statement !== 'string') asked.files += 1
    return { rows: [], rowCount: 0 }
  }
  return { asked, sql: { query } as unknown as Sql }
}

test('rows that nobody asked for in two minutes are given up, and read again when they are needed', async () => {
  let nowMs = 0
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {} }
  const { asked, sql } = countedSql()
  const cache = createFileCache({ clock })
  await cache.rows(sql, 'prices', file)
  nowMs = 100_000
  await cache.refresh(sql)
  await cache.rows(sql, 'prices', file)
  expect(asked.files).toBe(1)
  nowMs = 219_000
  await cache.refresh(sql)
  await cache.rows(sql, 'prices', file)
  expect(asked.files, 'used in between').toBe(1)
  nowMs = 340_000
  await cache.refresh(sql)
  await cache.rows(sql, 'prices', file)
  expect(asked.files).toBe(2)
})

test('a file that a replica does not have yet is read from the primary', async () => {
  const [primary, replica] = [countedSql(), countedSql()]
  await createFileCache({ replica: replica.sql }).rows(primary.sql, 'prices', file)
  expect([replica.asked.files, primary.asked.files]).toEqual([1, 1])
})
