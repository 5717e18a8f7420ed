import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { FileCache } from '../as-of/file-cache.ts'
import { type IngestDeps, type IngestOutcome, ingestFile, storeRead } from '../ingest/ingest-file.ts'
import type { FileReader } from '../ingest/reader-thread-adapter.ts'
import { type DemoSize, type PlannedFile, planDemo } from './plan.ts'

export type DemoProgress = { state: 'idle' | 'loading' | 'done'; files: number; of: number; symbols: number }

export type SeedDeps = Omit<IngestDeps, 'reader'> & {
  clock: Clock
  log: Log
  fileCache: FileCache
  reader?: FileReader
}

/** Makes the demo files and puts them through the ordinary ingester. What is there already is not made again. */
export async function seedDemo(
  deps: SeedDeps,
  size: DemoSize,
  options: {
    onProgress(progress: DemoProgress): void
    /** Lets the thread breathe between files: buyers come first. */
    restful: boolean
    stop: AbortSignal
    /** Marks of files this process has made already. */
    made: Set<string>
  },
): Promise<void> {
  await deps.fileCache.refresh(deps.database)
  const nowMs = deps.clock.nowMs()
  const plan = planDemo(nowMs, size)
  const held = new Set(deps.fileCache.all().map((file) => file.url))
  const isThere = (mark: string) => held.has(mark) || options.made.has(mark)
  for (const [index, planned] of plan.entries()) {
    if (options.stop.aborted) return
    const startedMs = deps.clock.monotonicMs()
    const mark = `demo:${size.symbols}:${planned.key}`
    if (isThere(mark)) continue
    const outcome = await seedFile(deps, mark, { planned, index, size, nowMs }, options.restful)
    if (outcome.status === 'refused') deps.log.error({ file: mark, ...outcome }, 'a demo file was refused')
    // Where a short list has the same bytes in the small and the large demo, nothing is stored under the second name.
    options.made.add(mark)
    options.onProgress({ state: 'loading', files: index + 1, of: plan.length, symbols: size.symbols })
    if (options.restful)
      await deps.clock.sleep(Math.min(250, deps.clock.monotonicMs() - startedMs), options.stop).catch(() => {})
  }
  options.onProgress({ state: 'done', files: plan.length, of: plan.length, symbols: size.symbols })
}

type Turn = { planned: PlannedFile; index: number; size: DemoSize; nowMs: number }

/** Before the node serves, the quickest way; after that in a thread, for making and reading a file takes a tenth of a second. */
async function seedFile(deps: SeedDeps, mark: string, turn: Turn, restful: boolean): Promise<IngestOutcome> {
  const { planned, index, size, nowMs } = turn
  const made = { synthetic: true, url: mark }
  if (!restful || !deps.reader) {
    const { reader: _, ...here } = deps
    return ingestFile(here, { ...planned.make(), source: planned.source, ...made })
  }
  const { read, availableAtMs } = await deps.reader.readDemo(size, index, nowMs)
  return storeRead(deps, read, {
    name: planned.key,
    bytes: new Uint8Array(),
    ...(availableAtMs === undefined ? {} : { availableAtMs }),
    ...made,
  })
}
