import type { Outbound } from '../../../outbound/index.ts'
import { sourceOf } from '../sources/catalogue.ts'
import type { DueFile, SourceId } from '../sources/source.ts'
import { type IngestDeps, type IngestOutcome, ingestFile } from './ingest-file.ts'

export type FetchDeps = IngestDeps & { outbound: Outbound }

export type FetchOutcome =
  | IngestOutcome
  | { status: 'not_modified' | 'not_published'; detail: string }
  | { status: 'failed'; detail: string }
  | { status: 'waiting'; detail: string }

type FetchState = { etag: string | null; last_modified: string | null; failures: number; next_at: Date }

const recheckMs = 12 * 3_600_000
const firstRetryMs = 60_000
const longestRetryMs = 6 * 3_600_000

/** One look at one address: conditional, not before its time, and further apart the more often it failed. */
export async function fetchFile(deps: FetchDeps, source: SourceId, due: DueFile): Promise<FetchOutcome> {
  const nowMs = deps.clock.nowMs()
  const { againMs = recheckMs } = sourceOf(source).schedule
  const state = await readState(deps, due.url)
  if (state && state.next_at.getTime() > nowMs)
    return { status: 'waiting', detail: `not before ${state.next_at.toISOString()}` }
  const answer = await deps.outbound.fetch(due.url, {
    maxBytes: sourceOf(source).bytesMax,
    totalMs: 120_000,
    redirectsMax: 3,
    headers: {
      ...(state?.etag ? { 'if-none-match': state.etag } : {}),
      ...(state?.last_modified ? { 'if-modified-since': state.last_modified } : {}),
    },
  })
  const failures = state?.failures ?? 0
  const note = (status: string, waitMs: number, failed: number, headers?: ReadonlyMap<string, string>) =>
    noteState(deps, source, due.url, { status, failures: failed, nextAtMs: nowMs + waitMs, headers, state })
  if (answer.status !== 'ok') {
    await note(answer.reason, backOffMs(failures), failures + 1)
    return { status: 'failed', detail: `${answer.reason}: ${answer.detail}` }
  }
  const { httpStatus, headers } = answer
  if (httpStatus === 304) {
    await note('304', againMs, 0)
    return { status: 'not_modified', detail: due.name }
  }
  // Some publishers say 403 for a day that has no file yet.
  if (httpStatus === 403 || httpStatus === 404) {
    await note(String(httpStatus), Math.max(15 * 60_000, backOffMs(failures)), failures + 1)
    return { status: 'not_published', detail: `${httpStatus} for ${due.name}` }
  }
  if (httpStatus !== 200) {
    await note(String(httpStatus), Math.max(backOffMs(failures), retryAfterMs(headers, nowMs)), failures + 1)
    return { status: 'failed', detail: `HTTP ${httpStatus}` }
  }
  const outcome = await ingestFile(deps, {
    name: due.name,
    bytes: answer.bytes,
    url: due.url,
    source,
    ...lastModified(headers, nowMs),
  })
  const refused = outcome.status === 'refused'
  await note(
    refused ? `refused ${outcome.code}` : '200',
    refused ? backOffMs(failures) : againMs,
    refused ? failures + 1 : 0,
    refused ? undefined : headers,
  )
  return outcome
}

export function backOffMs(failures: number): number {
  return Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(failures, 12))
}

function lastModified(headers: ReadonlyMap<string, string>, nowMs: number): { lastModifiedMs?: number } {
  const ms = Date.parse(headers.get('last-modified') ?? '')
  return Number.isNaN(ms) || ms > nowMs ? {} : { lastModifiedMs: ms }
}

function retryAfterMs(headers: ReadonlyMap<string, string>, nowMs: number): number {
  const text = headers.get('retry-after') ?? ''
  const ms = /^\d{1,6}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs
  return Number.isNaN(ms) ? 0 : Math.min(86_400_000, Math.max(0, ms))
}

async function readState(deps: FetchDeps, url: string): Promise<FetchState | undefined> {
  const { rows } = await deps.database.query<FetchState>(
    'select etag, last_modified, failures, next_at from matrix_fetch where url = $1',
    [url],
  )
  return rows[0]
}

async function noteState(
  deps: FetchDeps,
  source: SourceId,
  url: string,
  next: {
    status: string
    failures: number
    nextAtMs: number
    headers: ReadonlyMap<string, string> | undefined
    state: FetchState | undefined
  },
): Promise<void> {
  await deps.database.query(
    `insert into matrix_fetch (url, source, etag, last_modified, last_status, failures, checked_at, next_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (url) do update set etag = excluded.etag, last_modified = excluded.last_modified,
       last_status = excluded.last_status, failures = excluded.failures, checked_at = excluded.checked_at, next_at = excluded.next_at`,
    [
      url,
      source,
      next.headers?.get('etag') ?? next.state?.etag ?? null,
      next.headers?.get('last-modified') ?? next.state?.last_modified ?? null,
      next.status,
      next.failures,
      new Date(deps.clock.nowMs()),
      new Date(next.nextAtMs),
    ],
  )
}
