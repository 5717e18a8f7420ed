import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { silentLog } from '@assay/till/kernel/log'
import { openTestDatabase } from '@assay/till/store/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planDemo } from '../demo/plan.ts'
import { sampleNowMs } from '../demo/sample-files.fixture.ts'
import { feedIds } from '../feeds/feed.ts'
import { availability, type FileToIngest, ingestFile } from '../ingest/ingest-file.ts'
import { createLicenceGate } from '../licences/gate.ts'
import { readHistory } from '../routes/read-history.ts'
import { createSnapshotKeeper, isSnapshot } from '../snapshots/keeper.ts'
import { recogniseSource, sourceOf } from '../sources/catalogue.ts'
import { createSymbolTable } from '../store/symbol-table.ts'
import { createFileCache } from './file-cache.ts'

type Dated = FileToIngest & { availableAtMs: number }

/** When the public could know it, by the same rule as the ingester. */
function dated(file: FileToIngest): Dated {
  const source = file.source === undefined ? recogniseSource(file.name, file.bytes) : sourceOf(file.source)
  const parsed = source.parse({ name: file.name, bytes: file.bytes, nowMs: sampleNowMs })
  return { ...file, availableAtMs: availability(source, parsed, file, 1, sampleNowMs).availableAtMs }
}

/** A second version of a file, published days later: the figures of its first data line are changed by its editor. */
const correction = (file: Dated, edit: (text: string) => string): Dated => ({
  ...file,
  bytes: Buffer.from(edit(Buffer.from(file.bytes).toString('latin1')), 'latin1'),
  availableAtMs: file.availableAtMs + 3 * 86_400_000,
})

/**
 * Files come in as they were published. At random moments every feed is asked; when all files are in, each moment is asked
 * for again by a process that knows nothing of the first answer.
 */
async function expectNoLookAhead(files: readonly Dated[], symbol: string, moments: number): Promise<void> {
  const db = await openTestDatabase()
  try {
    const clock = { nowMs: () => sampleNowMs, monotonicMs: () => 0, sleep: async () => {} }
    const gate = createLicenceGate({ demo: true, assertions: [] })
    const answersAt = async (atMs: number) => {
      const fileCache = createFileCache()
      const deps = { database: db.database, clock, log: silentLog, fileCache, symbols: createSymbolTable(), gate }
      await fileCache.refresh(db.database)
      const { at } = createSnapshotKeeper({ ...deps, delayMs: 0 })
      const snapshots = await Promise.all(feedIds.map((feed) => at(feed, 'free', atMs)))
      const query = { feed: 'squeeze' as const, symbol, days: 60, knownAtMs: atMs, sinceDate: '2000-01-01' }
      return {
        snapshots: snapshots.map((found) => (isSnapshot(found) ? found.sha256 : found.status)),
        history: await readHistory({ ...deps, sql: db.database }, query, 'free'),
      }
    }
    const inOrder = [...files].sort((a, b) => a.availableAtMs - b.availableAtMs)
    const ingest = createSymbolTable()
    const asked = new Set(fc.sample(fc.nat({ max: inOrder.length - 2 }), { numRuns: moments, seed: 20_210_128 }))
    const first = new Map<number, Awaited<ReturnType<typeof answersAt>>>()
    for (const [index, file] of inOrder.entries()) {
      const outcome = await ingestFile({ database: db.database, clock, symbols: ingest }, file)
      expect([file.name, outcome.status]).toEqual([file.name, 'stored'])
      const next = inOrder[index + 1]?.availableAtMs ?? 0
      if (asked.has(index) && next > file.availableAtMs) first.set(next - 1, await answersAt(next - 1))
    }
    expect(first.size).toBeGreaterThan(moments / 4)
    const different = new Set([...first.values()].map(({ snapshots }) => snapshots.join()))
    // Otherwise nothing would have been compared.
    expect(different.size).toBeGreaterThan(2)
    for (const [atMs, answer] of first) expect(await answersAt(atMs)).toEqual(answer)
  } finally {
    await db.close()
  }
}

test('what is published later, corrections included, never changes an answer as of earlier', async () => {
  const made = planDemo(sampleNowMs, { symbols: 100, tradingDays: 14 }).map((planned) =>
    dated({ ...planned.make(), source: planned.source, synthetic: true }),
  )
  const corrections = made.flatMap((file) => {
    if (file.availableAtMs + 3 * 86_400_000 > sampleNowMs) return []
    if (file.source === 'prices') return [correction(file, (text) => text.replace(/,(\d+)\n/, ',7$1\n'))]
    if (file.source === 'finra-short-interest')
      return [correction(file, (text) => text.replace(/\|A\|NNM\|(\d+)\|/, '|A|NNM|9$1|'))]
    return []
  })
  expect(corrections.length).toBeGreaterThan(5)
  await expectNoLookAhead([...made, ...corrections], 'ZZAAA', 16)
}, 120_000)

const folder = fileURLToPath(new URL('../../../../../../../shared/data/', import.meta.url))

test.skipIf(!existsSync(folder))(
  'the same holds over published files of the winter of 2021',
  async () => {
    const read = (kind: string, wanted: (name: string) => boolean) =>
      readdirSync(`${folder}${kind}`)
        .filter(wanted)
        .map((name) =>
          dated({ name: name.replace(/\.gz$/, ''), bytes: gunzipSync(readFileSync(`${folder}${kind}/${name}`)) }),
        )
    const files = [
      ...read('finra-short-volume', (name) => /^CNMSshvol202102/.test(name)),
      ...read('sec-fails', (name) => /2021(01b|02a)/.test(name)),
      ...read('symbols', (name) => name.includes('.2021')),
      ...read('sec-xbrl', () => true),
    ]
    await expectNoLookAhead(files, 'GME', 8)
  },
  240_000,
)
