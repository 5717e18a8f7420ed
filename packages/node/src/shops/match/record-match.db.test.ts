import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordMatch } from './answer-match.ts'
import { findMatched } from './find-matched.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

test('a search whose payment a reorg took away is recorded once when it is paid again, and not given for nothing', async () => {
  const reservation = {
    id: 'qry_06gxx4a938ytvgjv1yj39fr9ag',
    payer: `0x${'42'.repeat(20)}`,
    query: 'short squeeze',
    pages: [{ url: 'http://a.test/', text_sha256: `0x${'11'.repeat(32)}` }],
    synthetic: false,
  }
  for (const askedAtMs of [1_000, 2_000]) await db.database.transaction((tx) => recordMatch(tx, reservation, askedAtMs))
  const { rows } = await db.database.query('select id, asked_at from match_query')
  expect(rows).toEqual([{ id: reservation.id, asked_at: new Date(1_000) }])
})

test('a page that was offered with tracking parameters is found by its plain address', async () => {
  const reservation = {
    id: 'qry_06gxx4a938ytvgjv1yj39fr9ah',
    payer: `0x${'42'.repeat(20)}`,
    query: 'short squeeze',
    pages: [{ url: 'http://a.test/x?utm_source=feed&id=1', text_sha256: `0x${'22'.repeat(32)}` }],
    synthetic: false,
  }
  await db.database.transaction((tx) => recordMatch(tx, reservation, 1_000))
  const found = await findMatched(db.database, reservation.id, 'http://a.test/x?id=1')
  expect(found && Buffer.from(found.textSha256)).toEqual(Buffer.alloc(32, 0x22))
  expect(await findMatched(db.database, reservation.id, 'http://a.test/x?id=2')).toBeUndefined()
})
