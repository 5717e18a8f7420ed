import { silentLog } from '@assay/till/kernel/log'
import { openTestDatabase } from '@assay/till/store/testing'
import fc from 'fast-check'
import { expect } from 'vitest'
import { sampleNowMs } from '../demo/sample-files.fixture.ts'
import { type FeedId, feedIds } from '../feeds/feed.ts'
import { availability, type FileToIngest, ingestFile } from '../ingest/ingest-file.ts'
import { createLicencePolicy, type Variant } from '../licences/licence-policy.ts'
import { readHistory } from '../routes/read-history.ts'
import type { ScoreMethodName } from '../score/method.ts'
import type { NoSnapshot, Snapshot } from '../snapshots/snapshot.ts'
import { createSnapshotCache, isSnapshot } from '../snapshots/snapshot-cache.ts'
import { recogniseSource, sourceOf } from '../sources/catalogue.ts'
import { createSymbolTable } from '../store/symbol-table.ts'
import { createFileCache } from './file-cache.ts'

export type Dated = FileToIngest & { availableAtMs: number }

/** When the public could know it, by the same rule as the ingester. */
export function dated(file: FileToIngest): Dated {
  const source = file.source === undefined ? recogniseSource(file.name, file.bytes) : sourceOf(file.source)
  const parsed = source.parse({ name: file.name, bytes: file.bytes, nowMs: sampleNowMs })
  return { ...file, availableAtMs: availability(source, parsed, file, 1, sampleNowMs).availableAtMs }
}

const hashOf = (found: Snapshot | NoSnapshot) => (isSnapshot(found) ? found.sha256 : found.status)

/** What the paid tiers may use beside the public domain, so that they and the free ones differ and both have figures. */
const assertions = (['finra-short-interest', 'prices', 'nasdaq-directory'] as const).map((source) => ({
  source,
  allows: 'paid' as const,
  assertedBy: 'test',
  assertedAt: '2021-01-01',
  reference: 'test',
}))

export type Asked = { feed: FeedId; variant: Variant; method?: ScoreMethodName }

/** The bytes of a snapshot hold every field of every tier; the free and the paid tiers have their own rights. */
const everyKind: readonly Asked[] = [
  ...feedIds.flatMap((feed) => [
    { feed, variant: 'free' as const },
    { feed, variant: 'paid' as const },
  ]),
  { feed: 'squeeze', variant: 'paid', method: 'assay-squeeze-1' },
]

/**
 * Files come in as they were published. At random moments every feed is asked; when all files are in, each moment is asked
 * for again by a process that knows nothing of the first answer.
 */
export async function expectNoLookAhead(
  files: readonly Dated[],
  { symbol, moments, asked: kinds = everyKind }: { symbol: string; moments: number; asked?: readonly Asked[] },
): Promise<void> {
  const db = await openTestDatabase()
  try {
    const clock = { nowMs: () => sampleNowMs, monotonicMs: () => 0, sleep: async () => {} }
    const licences = createLicencePolicy({ demo: true, assertions })
    const answersAt = async (atMs: number) => {
      const fileCache = createFileCache()
      const deps = { database: db.database, clock, log: silentLog, fileCache, symbols: createSymbolTable(), licences }
      await fileCache.refresh(db.database)
      const { at } = createSnapshotCache({ ...deps, delayMs: 0 })
      const snapshots: string[] = []
      for (const { feed, variant, method } of kinds) snapshots.push(hashOf(await at(feed, variant, atMs, method)))
      const query = { feed: 'squeeze' as const, symbol, days: 60, knownAtMs: atMs, sinceDate: '2000-01-01' }
      return { snapshots, history: await readHistory({ ...deps, sql: db.database }, query, 'paid') }
    }
    const inOrder = [...files].sort((a, b) => a.availableAtMs - b.availableAtMs)
    const ingest = createSymbolTable()
    const askedAfter = new Set(fc.sample(fc.nat({ max: inOrder.length - 2 }), { numRuns: moments, seed: 20_210_128 }))
    const first = new Map<number, Awaited<ReturnType<typeof answersAt>>>()
    for (const [index, file] of inOrder.entries()) {
      const outcome = await ingestFile({ database: db.database, clock, symbols: ingest }, file)
      expect([file.name, outcome.status]).toEqual([file.name, 'stored'])
      const next = inOrder[index + 1]?.availableAtMs ?? 0
      if (askedAfter.has(index) && next > file.availableAtMs) first.set(next - 1, await answersAt(next - 1))
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
