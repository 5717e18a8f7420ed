import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { watchCoverage } from './coverage.ts'

const db = await useTestDatabase({ poolSize: 2 })

async function read(domain: string, state: string, readAt: readonly string[]): Promise<void> {
  await db.owner.query(
    `insert into source (domain, registrable, display, origin, state, registered_at, updated_at)
     values ($1, $1, $1, $1, $2, now(), now())`,
    [domain, state],
  )
  for (const [index, at] of readAt.entries())
    await db.owner.query(
      `insert into crawl_page (domain, url, found_by, due_at, text_sha256, fetched_at) values ($1, $2, 'home', now(), sha256('x'), $3)`,
      [domain, `https://${domain}/${index}`, at],
    )
}

test('a buyer sees how many pages can be found, of how many domains, and how old they are; refused ones do not count', async () => {
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const coverage = await watchCoverage({ sql: db.database, clock, log: silentLog })
  expect(coverage()).toEqual({ pages: 0, domains: 0, oldest_read_at: null, newest_read_at: null })
  await read('a.test', 'proven', ['2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z'])
  await read('b.test', 'registered', ['2026-01-02T00:00:00Z'])
  await read('c.test', 'refused', ['2025-01-02T00:00:00Z'])
  nowMs += 61_000
  coverage()
  await expect.poll(coverage).toEqual({
    pages: 3,
    domains: 2,
    oldest_read_at: '2026-01-01T00:00:00.000Z',
    newest_read_at: '2026-01-03T00:00:00.000Z',
  })
})
