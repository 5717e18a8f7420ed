import { sha256 } from '@assay/till/kernel/bytes'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { beforeEach, expect, test } from 'vitest'
import type { Snapshot } from './snapshots.ts'
import { isStored, pruneSnapshots, reserveSnapshot, storeSnapshots } from './store-snapshots.ts'

const db = await useTestDatabase()
beforeEach(() => db.owner.query('truncate cited_page, cited_text'))

const url = 'https://cited.com/a'
const snapshotOf = (text: string, minute = 0): Snapshot => ({
  finalUrl: 'https://www.cited.com/a',
  canonical: 'https://cited.com/a',
  httpStatus: 200,
  fetchedAt: new Date(Date.UTC(2026, 0, 1, 0, minute)),
  contentSha256: Buffer.from(sha256(`<p>${text}`)),
  textSha256: Buffer.from(sha256(text)),
  title: 'A page',
  text,
  licence: null,
})
/** As a process does that has only the reservation, read back from the database. */
const commit = async (attestation: string, ...snapshots: Snapshot[]) => {
  const reserved = await Promise.all(snapshots.map((snapshot) => reserveSnapshot(url, snapshot)))
  const read = JSON.parse(JSON.stringify(reserved)) as typeof reserved
  await db.database.transaction((tx) =>
    storeSnapshots(
      tx,
      read.map((snapshot) => ({ attestation, snapshot })),
    ),
  )
}
const rowsOf = async (table: string, columns: string) =>
  (await db.owner.query(`select ${columns} from ${table} order by 1`)).rows

test('a page is stored from the reservation alone when its sale is committed', async () => {
  const snapshot = snapshotOf('Words, \u00e9t\u00e9, \u{1f600}.')
  expect(await isStored(db.database, url, snapshot)).toBe(false)
  await commit('att_1', snapshot)
  expect(await isStored(db.database, url, snapshot)).toBe(true)
  expect(await rowsOf('cited_text', 'text, attestation')).toEqual([{ text: snapshot.text, attestation: 'att_1' }])
  expect(await rowsOf('cited_page', 'url, final_url, canonical, text_sha256, fetched_at')).toEqual([
    {
      url,
      final_url: snapshot.finalUrl,
      canonical: snapshot.canonical,
      text_sha256: snapshot.textSha256,
      fetched_at: snapshot.fetchedAt,
    },
  ])
})

test('a sale that is finished late does not replace a newer reading, and its text is kept', async () => {
  await commit('att_2', snapshotOf('second', 2))
  await commit('att_1', snapshotOf('first', 1))
  expect(await rowsOf('cited_page', 'text_sha256')).toEqual([{ text_sha256: Buffer.from(sha256('second')) }])
  expect(await rowsOf('cited_text', 'text, attestation')).toEqual([
    { text: 'first', attestation: 'att_1' },
    { text: 'second', attestation: 'att_2' },
  ])
})

test('many sales of one page in one commit, and in many at once, store it once', async () => {
  await commit('att_1', snapshotOf('same', 1), snapshotOf('same', 3), snapshotOf('same', 2))
  await Promise.all(
    Array.from({ length: 8 }, (_, n) => commit(`att_${n}`, snapshotOf('other', 4), snapshotOf('same', 3))),
  )
  expect(await rowsOf('cited_text', 'text')).toEqual([{ text: 'other' }, { text: 'same' }])
  expect(await rowsOf('cited_page', 'fetched_at')).toEqual([{ fetched_at: new Date(Date.UTC(2026, 0, 1, 0, 4)) }])
})

test('texts that no attestation uses are pruned with their pages, the others are kept', async () => {
  await commit('att_1', snapshotOf('paid'))
  const unpaid = `insert into cited_text select sha256(n::text::bytea), n::text from generate_series(1, 1200) n`
  await db.owner.query(unpaid)
  await db.owner.query(
    `insert into cited_page (url, final_url, http_status, title, content_sha256, text_sha256, fetched_at)
     select 'https://cited.com/' || n, 'https://cited.com/', 200, '', sha256(''), sha256(n::text::bytea), now()
     from generate_series(1, 1200) n`,
  )
  expect(await pruneSnapshots(db.database)).toBe(1_200)
  expect(await rowsOf('cited_text', 'text')).toEqual([{ text: 'paid' }])
  expect(await rowsOf('cited_page', 'url')).toEqual([{ url }])
  expect(await pruneSnapshots(db.database)).toBe(0)
})

test('a text that was stored unpaid is kept once a sale uses it', async () => {
  await db.owner.query('insert into cited_text values ($1, $2)', [Buffer.from(sha256('used')), 'used'])
  await commit('att_1', snapshotOf('used'))
  expect(await pruneSnapshots(db.database)).toBe(0)
})
