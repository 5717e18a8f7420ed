import { expect, test } from 'vitest'
import { countWorkers } from './processes.ts'

const counts = (databaseUrl?: string) => [1, 2, 4, 8, 256].map((cores) => countWorkers(cores, databaseUrl))

test('workers leave a database on the same machine its part of the cores', () => {
  expect(counts()).toEqual([1, 1, 2, 5, 64])
  expect(counts('postgresql://assay@127.0.0.1:5432/assay')).toEqual(counts())
})

test('workers take all cores where the database is on another machine', () => {
  expect(counts('postgresql://assay@db.example:5432/assay')).toEqual([1, 2, 4, 8, 64])
})
