import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { FileCache } from '../as-of/file-cache.ts'
import { type IngestDeps, ingestFile } from '../ingest/ingest-file.ts'
import { type DemoSize, planDemo } from './plan.ts'

export type DemoProgress = { state: 'idle' | 'loading' | 'done'; files: number; of: number; symbols: number }

export type SeedDeps = IngestDeps & { clock: Clock; log: Log; fileCache: FileCache }

/** Makes the demo files and puts them through the ordinary ingester. What is there already is not made again. */
export async function seedDemo(
  deps: SeedDeps,
  size: DemoSize,
  options: {
    onProgress(progress: DemoProgress): void
    /** Whether to yield to the event loop between files, so that requests of buyers are answered first. */
    yieldsBetweenFiles: boolean
    stop: AbortSignal
    /** Marks of files this process has made already. */
    made: Set<string>
  },
): Promise<void> {
  await deps.fileCache.refresh(deps.database)
  const plan = planDemo(deps.clock.nowMs(), size)
  const held = new Set(deps.fileCache.all().map((file) => file.url))
  const isThere = (mark: string) => held.has(mark) || options.made.has(mark)
  for (const [index, planned] of plan.entries()) {
    if (options.stop.aborted) return
    const startedMs = deps.clock.monotonicMs()
    const mark = `demo:${size.symbols}:${planned.key}`
    if (isThere(mark)) continue
    const file = planned.make()
    // Making a file and reading it are each some tenths of a second at most: requests are answered in between.
    if (options.yieldsBetweenFiles) await deps.clock.sleep(0)
    const outcome = await ingestFile(deps, { ...file, source: planned.source, synthetic: true, url: mark })
    if (outcome.status === 'refused') deps.log.error({ file: mark, ...outcome }, 'a demo file was refused')
    // Where a short list has the same bytes in the small and the large demo, nothing is stored under the second name.
    options.made.add(mark)
    options.onProgress({ state: 'loading', files: index + 1, of: plan.length, symbols: size.symbols })
    if (options.yieldsBetweenFiles)
      await deps.clock.sleep(Math.min(250, deps.clock.monotonicMs() - startedMs), options.stop).catch(() => {})
  }
  options.onProgress({ state: 'done', files: plan.length, of: plan.length, symbols: size.symbols })
}
