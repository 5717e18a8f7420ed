import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Outbound, OutboundOutcome } from '../../../outbound/index.ts'
import { sampleFiles, sampleNowMs } from '../demo/sample-files.fixture.ts'
import { ibkrBorrow } from '../sources/ibkr-borrow.ts'
import { createSymbolTable } from '../store/symbol-table.ts'
import { fetchDue } from './fetch-due.ts'
import { backOffMs, fetchFile } from './fetch-file.ts'
import { planOf } from './fetch-plan.ts'
import { officialOutbound } from './official-outbound.ts'

const db = await useTestDatabase()
// Each test begins at the same moment.
beforeEach(() => db.database.query('delete from matrix_publisher'))

function open(answer: (url: string, headers: Readonly<Record<string, string>>) => Partial<OutboundOutcome>) {
  const asked: { url: string; headers: Readonly<Record<string, string>> }[] = []
  const time = { nowMs: sampleNowMs }
  const outbound: Outbound = {
    fetch: async (url, { headers = {} }) => {
      asked.push({ url, headers })
      return {
        status: 'ok',
        httpStatus: 200,
        headers: new Map(),
        bytes: Buffer.alloc(0),
        cut: false,
        url,
        redirectedFrom: [],
        address: '',
        secure: true,
        ...answer(url, headers),
      } as OutboundOutcome
    },
  }
  const clock = {
    nowMs: () => time.nowMs,
    monotonicMs: () => 0,
    sleep: async (ms: number) => {
      time.nowMs += ms
    },
  }
  return { asked, time, deps: { database: db.database, clock, symbols: createSymbolTable(), outbound } }
}

const faults: [string, Partial<OutboundOutcome>, string][] = [
  ['a name that does not resolve', { status: 'failed', reason: 'dns', detail: 'no such name' } as never, 'failed'],
  ['a connection that is cut', { status: 'failed', reason: 'protocol', detail: 'closed early' } as never, 'failed'],
  ['silence', { status: 'failed', reason: 'timeout', detail: '' } as never, 'failed'],
  ['a private address', { status: 'refused', reason: 'address_not_global', detail: '' } as never, 'failed'],
  ['too many bytes', { status: 'failed', reason: 'too_large', detail: '' } as never, 'failed'],
  ['403 for a day that is not out', { httpStatus: 403 } as never, 'not_published'],
  ['404', { httpStatus: 404 } as never, 'not_published'],
  ['500', { httpStatus: 500 } as never, 'failed'],
  ['429', { httpStatus: 429, headers: new Map([['retry-after', '7200']]) } as never, 'failed'],
  ['an HTML page with status 200', { bytes: Buffer.from('<html>sorry</html>') } as never, 'refused'],
  ['an empty body', { bytes: Buffer.alloc(0) } as never, 'refused'],
]

describe.each(sampleFiles)('$source', ({ source, file }) => {
  test.each(faults)('%s changes nothing and is asked for again later', async (what, answer, status) => {
    const { asked, time, deps } = open(() => answer)
    const due = {
      url: `https://example.org/${source}/${file.name}?${encodeURIComponent(what)}`,
      name: file.name,
      period: '',
      dueAtMs: 0,
    }
    const before = await db.database.query('select id from matrix_file')
    expect((await fetchFile(deps, planOf(source), due)).status).toBe(status)
    expect((await fetchFile(deps, planOf(source), due)).status).toBe('waiting')
    expect(asked).toHaveLength(1)
    time.nowMs += 7_300_000
    await fetchFile(deps, planOf(source), due)
    expect(asked).toHaveLength(2)
    expect((await db.database.query('select id from matrix_file')).rowCount).toBe(before.rowCount)
  })
})

test('a file is fetched once, then asked for conditionally, and a 304 costs nothing', async () => {
  const [sample] = sampleFiles
  const headers = new Map([
    ['etag', '"v1"'],
    ['last-modified', 'Thu, 12 Nov 2026 22:47:00 GMT'],
  ])
  const { asked, time, deps } = open((_url, sent) =>
    sent['if-none-match'] === '"v1"' ? { httpStatus: 304 } : ({ bytes: sample?.file.bytes, headers } as never),
  )
  const due = { url: 'https://cdn.finra.org/x', name: sample?.file.name as string, period: '', dueAtMs: 0 }
  expect(await fetchFile(deps, planOf('finra-short-volume'), due)).toMatchObject({ status: 'stored' })
  const { rows } = await db.database.query(`select available_at, available_basis from matrix_file where url = $1`, [
    due.url,
  ])
  expect(rows).toEqual([{ available_at: new Date('2026-11-12T22:47:00Z'), available_basis: 'last_modified' }])
  time.nowMs += 13 * 3_600_000
  expect(await fetchFile(deps, planOf('finra-short-volume'), due)).toMatchObject({ status: 'not_modified' })
  expect(asked[1]?.headers).toMatchObject({
    'if-none-match': '"v1"',
    'if-modified-since': 'Thu, 12 Nov 2026 22:47:00 GMT',
  })
})

test('publishers are asked one at a time, with their pause in between', async () => {
  const { asked, time, deps } = open(() => ({ httpStatus: 404 }))
  const startedMs = time.nowMs
  await fetchDue(deps, [planOf('nyse-threshold')], { signal: new AbortController().signal })
  expect(asked.length).toBeGreaterThan(5)
  expect(time.nowMs - startedMs).toBeGreaterThanOrEqual((asked.length - 1) * 5_000)
})

test('what changes within the day is asked for again within minutes, the rest twice a day', async () => {
  const minutes = 60_000
  for (const [source, refetchMs] of [
    ['nasdaq-halts', 5 * minutes],
    ['ibkr-borrow', 15 * minutes],
    ['sec-fails', 720 * minutes],
  ] as const) {
    const { file } = sampleFiles.find((one) => one.source === source) as (typeof sampleFiles)[number]
    const { asked, time, deps } = open(() => ({ bytes: file.bytes }) as never)
    const due = { url: `https://example.org/again/${source}`, name: file.name, period: '', dueAtMs: 0 }
    await fetchFile(deps, planOf(source), due)
    time.nowMs += refetchMs - minutes
    expect((await fetchFile(deps, planOf(source), due)).status).toBe('waiting')
    time.nowMs += minutes
    expect((await fetchFile(deps, planOf(source), due)).status).toBe('unchanged')
    expect(asked).toHaveLength(2)
  }
})

test('the shortable stock file is read by FTP from its publisher, and from nobody else', async () => {
  const [due] = ibkrBorrow.schedule.due(sampleNowMs)
  expect(due).toMatchObject({ url: 'ftp://shortstock@ftp2.interactivebrokers.com/usa.txt', name: 'usa.txt' })
  const outbound = officialOutbound({
    clock: systemClock,
    rng: systemRng,
    log: silentLog,
    metrics: silentMetrics,
    mode: 'production',
    contact: 'test@localhost',
  })
  const limits = { maxBytes: 10, totalMs: 100, redirectsMax: 0 }
  for (const url of [
    'ftp://127.0.0.1/usa.txt',
    'ftp://ftp2.interactivebrokers.com:2121/usa.txt',
    'ftp://ftp2.interactivebrokers.com/../x',
  ])
    expect(await outbound.fetch(url, limits)).toMatchObject({ status: 'refused' })
})

test('back-off doubles up to six hours', () => {
  expect([0, 1, 2, 20].map(backOffMs)).toEqual([60_000, 120_000, 240_000, 21_600_000])
})
