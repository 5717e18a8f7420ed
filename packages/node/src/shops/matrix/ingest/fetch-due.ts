import { sourceOf } from '../sources/catalogue.ts'
import type { SourceId } from '../sources/source.ts'
import { type FetchDeps, type FetchOutcome, fetchFile } from './fetch-file.ts'

export type FetchReport = { source: SourceId; name: string; outcome: FetchOutcome }

/** Once through the schedules of these sources. One request at a time, with each publisher's pause between two. */
export async function fetchDue(
  deps: FetchDeps,
  ids: readonly SourceId[],
  options: { signal: AbortSignal; onReport?(report: FetchReport, done: number, of: number): void },
): Promise<FetchReport[]> {
  const reports: FetchReport[] = []
  const work = ids.flatMap((id) =>
    sourceOf(id)
      .schedule.due(deps.clock.nowMs())
      .map((due) => ({ id, due })),
  )
  for (const [index, { id, due }] of work.entries()) {
    if (options.signal.aborted) break
    const outcome = await fetchFile(deps, id, due)
    const report = { source: id, name: due.name, outcome }
    reports.push(report)
    options.onReport?.(report, index + 1, work.length)
    if (outcome.status !== 'waiting') await deps.clock.sleep(sourceOf(id).politeMs, options.signal).catch(() => {})
  }
  return reports
}
