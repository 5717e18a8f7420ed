import type { SourceId } from '../sources/source.ts'
import { type FetchDeps, type FetchOutcome, fetchFile } from './fetch-file.ts'
import type { FetchPlan } from './fetch-plan.ts'

export type FetchReport = { source: SourceId; name: string; outcome: FetchOutcome }

/** Once through the schedules of these sources; what is newest of each comes first. */
export async function fetchDue(
  deps: FetchDeps,
  plans: readonly FetchPlan[],
  options: { signal: AbortSignal; onReport?(report: FetchReport, done: number, of: number): void },
): Promise<FetchReport[]> {
  const { signal } = options
  const nowMs = deps.clock.nowMs()
  const ranked = plans.flatMap((plan) => plan.due(nowMs).map((due, rank) => ({ plan, due, rank })))
  const work = ranked.sort((a, b) => a.rank - b.rank)
  const reports: FetchReport[] = []
  await byPublisher(work, signal, async ({ plan, due }) => {
    const outcome = await fetchFile(deps, plan, due, { signal })
    const report = { source: plan.source, name: due.name, outcome }
    reports.push(report)
    options.onReport?.(report, reports.length, work.length)
  })
  return reports
}

/** One request at a time to each publisher; one that is slow keeps no other waiting. Ends early when stopped. */
export async function byPublisher<T extends { plan: FetchPlan }>(
  work: readonly T[],
  signal: AbortSignal,
  take: (one: T) => Promise<void>,
): Promise<void> {
  const lines = new Map<string, T[]>()
  for (const one of work) lines.set(one.plan.publisher, [...(lines.get(one.plan.publisher) ?? []), one])
  const done = await Promise.allSettled(
    [...lines.values()].map(async (line) => {
      for (const one of line) {
        if (signal.aborted) return
        await take(one).catch((error: unknown) => {
          if (!signal.aborted) throw error
        })
      }
    }),
  )
  const fault = done.find((result) => result.status === 'rejected')
  if (fault) throw fault.reason
}
