import { expect, test } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import type { Outbound } from '../../outbound/index.ts'
import type { Database } from '../../store/database.ts'
import { createSnapshots } from './snapshots.ts'

/** A database that knows no page; whatever is stored is counted. */
function openSnapshots(answer: { url: string; httpStatus?: number }, forbidden: readonly string[] = []) {
  const stored: string[] = []
  const database = {
    query: async () => ({ rows: [], rowCount: 0 }),
    transaction: async (work: (tx: unknown) => Promise<unknown>) =>
      work({ query: async (text: string) => stored.push(text) }),
  } as unknown as Database
  const outbound = {
    fetch: async () => ({
      status: 'ok',
      httpStatus: 200,
      headers: new Map([['content-type', 'text/html']]),
      bytes: Buffer.from('<html><body><article><p>Words of the page.</p></article></body></html>'),
      ...answer,
    }),
  } as unknown as Outbound
  const mayRead = async (url: string) => (forbidden.includes(url) ? 'robots.txt forbids it' : undefined)
  const snapshots = createSnapshots({ database, outbound, clock: systemClock, mayRead, freshMs: 1_000 })
  const page = { url: 'http://www.cited.com/a', domain: 'www.cited.com', registrable: 'cited.com' }
  return { read: () => snapshots.of(page), stored }
}

test('a page that leads to another domain is not taken for the one that was cited', async () => {
  for (const url of ['https://other.com/a', 'https://cited.com.other.com/', 'https://notcited.com/']) {
    const { read, stored } = openSnapshots({ url })
    await expect(read()).rejects.toMatchObject({ code: 'page_unreadable' })
    expect(stored).toEqual([])
  }
})

test('a page that moved within its domain is read, unless robots.txt forbids where it went', async () => {
  const moved = 'https://cited.com/b'
  expect(await openSnapshots({ url: moved }).read()).toMatchObject({ finalUrl: moved, text: 'Words of the page.' })
  const { read, stored } = openSnapshots({ url: moved }, [moved])
  await expect(read()).rejects.toMatchObject({ code: 'page_unreadable' })
  expect(stored).toEqual([])
})

test('only 200 is a page', async () => {
  for (const httpStatus of [204, 206, 404, 500])
    await expect(openSnapshots({ url: 'http://www.cited.com/a', httpStatus }).read()).rejects.toMatchObject({
      code: 'page_unreadable',
    })
})
