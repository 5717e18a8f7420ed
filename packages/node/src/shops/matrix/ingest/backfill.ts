import type { IsoDate } from '../calendar/dates.ts'
import type { SourceId } from '../sources/source.ts'
import { byPublisher } from './fetch-due.ts'
import { type FetchDeps, type FetchOutcome, fetchFile } from './fetch-file.ts'
import type { FetchPlan } from './fetch-plan.ts'
import { heldAlready, readState } from './fetch-state.ts'

export type BackfillReport = {
  source: SourceId
  period: string
  name: string
  url: string
  outcome: FetchOutcome
  /** Digest of the stored file; null if there is none. */
  sha256: string | null
}

export type BackfillOptions = {
  from: IsoDate
  to: IsoDate
  signal: AbortSignal
  /** Also what is held, or was lately found not to be published. */
  again?: boolean
  onReport?(report: BackfillReport, done: number, of: number): void
}

const triesMax = 4
const firstPauseMs = 2_000
const notPublishedMs = 12 * 3_600_000

/**
 * Every file about these days that the publishers keep, newest first. Where it was interrupted it goes on: what is held,
 * and what was looked for in vain within half a day, is not asked for again.
 */
export async function backfill(
  deps: FetchDeps,
  plans: readonly FetchPlan[],
  options: BackfillOptions,
): Promise<BackfillReport[]> {
  const nowMs = deps.clock.nowMs()
  const work = plans.flatMap((plan) =>
    (plan.files?.(options.from, options.to) ?? [])
      .filter(({ dueAtMs }) => dueAtMs <= nowMs)
      .map((due) => ({ plan, due })),
  )
  const reports: BackfillReport[] = []
  await byPublisher(work, options.signal, async ({ plan, due }) => {
    const outcome =
      (options.again ? undefined : await settled(deps, plan, due)) ?? (await tryOften(deps, plan, due, options))
    const { source } = plan
    const { period, name, url } = due
    const report = { source, period, name, url, outcome, sha256: await digestOf(deps, source, period, name) }
    reports.push(report)
    options.onReport?.(report, reports.length, work.length)
  })
  return reports
}

type Due = Parameters<typeof fetchFile>[2]

/** What an earlier run found, where asking again would tell nothing new. */
async function settled(deps: FetchDeps, plan: FetchPlan, due: Due): Promise<FetchOutcome | undefined> {
  if (await heldAlready(deps, plan, due)) return { status: 'held', detail: due.name }
  const state = await readState(deps, due.url)
  const absent = state !== undefined && ['403', '404'].includes(state.last_status)
  return absent && state.checked_at.getTime() > deps.clock.nowMs() - notPublishedMs
    ? { status: 'not_published', detail: `${state.last_status} for ${due.name}` }
    : undefined
}

async function tryOften(
  deps: FetchDeps,
  plan: FetchPlan,
  due: Due,
  { signal }: BackfillOptions,
): Promise<FetchOutcome> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await fetchFile(deps, plan, due, { now: true, signal })
    const passing = outcome.status === 'failed' || outcome.status === 'waiting'
    if (!passing || tries === triesMax || signal.aborted) return outcome
    await deps.clock.sleep(firstPauseMs * 2 ** (tries - 1), signal)
  }
}

async function digestOf(
  { database }: FetchDeps,
  source: SourceId,
  period: string,
  name: string,
): Promise<string | null> {
  const { rows } = await database.query<{ sha256: Buffer }>(
    `select sha256 from matrix_file where source = $1 and period = $2 order by name = $3 desc, revision desc limit 1`,
    [source, period, name],
  )
  return rows[0]?.sha256.toString('hex') ?? null
}
