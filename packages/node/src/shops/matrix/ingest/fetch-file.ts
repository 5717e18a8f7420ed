import type { Outbound, OutboundOutcome } from '../../../outbound/index.ts'
import { sourceOf } from '../sources/catalogue.ts'
import type { DueFile } from '../sources/source.ts'
import type { FetchPlan } from './fetch-plan.ts'
import { type FetchState, heldAlready, readState, saveState } from './fetch-state.ts'
import { type IngestDeps, type IngestOutcome, ingestFile } from './ingest-file.ts'
import { awaitTurn, holdPublisher } from './publisher-pause.ts'

export type FetchDeps = IngestDeps & { outbound: Outbound }

export type FetchOutcome =
  | IngestOutcome
  | { status: 'not_modified' | 'not_published' | 'held' | 'failed' | 'waiting'; detail: string }

export type FetchOptions = {
  /** Asked for by a person: not before its time is no reason. */
  now?: boolean
  signal?: AbortSignal
}

const firstRetryMs = 60_000
const longestRetryMs = 6 * 3_600_000
const largeBytes = 64 * 1024 * 1024

/** One fetch of one address: conditional, not before its time, and further apart the more often it failed. */
export async function fetchFile(
  deps: FetchDeps,
  plan: FetchPlan,
  due: DueFile,
  options: FetchOptions = {},
): Promise<FetchOutcome> {
  const nowMs = deps.clock.nowMs()
  const state = await readState(deps, due.url)
  if (state && !options.now && state.next_at.getTime() > nowMs)
    return { status: 'waiting', detail: `not before ${state.next_at.toISOString()}` }
  const look = attemptOf(deps, plan, due, state, nowMs)
  if (!state && (await heldAlready(deps, plan, due))) {
    await look.note('held', look.refetchMs, 0)
    return { status: 'held', detail: due.name }
  }
  if (!(await awaitTurn(deps, plan, options.signal)))
    return { status: 'waiting', detail: `${plan.publisher} asked for a pause` }
  const { bytesMax } = sourceOf(plan.source)
  const answer = await deps.outbound.fetch(plan.keyed(due.url), {
    maxBytes: bytesMax,
    totalMs: bytesMax > largeBytes ? 600_000 : 120_000,
    redirectsMax: 3,
    headers: conditions(state),
    ...(options.signal && { signal: options.signal }),
  })
  const outcome = await takeAnswer(deps, plan, due, look, answer)
  return 'detail' in outcome ? { ...outcome, detail: withoutKey(outcome.detail, plan) } : outcome
}

type FetchAttempt = {
  state: FetchState | undefined
  nowMs: number
  refetchMs: number
  note(status: string, waitMs: number, failures: number, headers?: ReadonlyMap<string, string>): Promise<void>
}

/** The older a file, the rarer it is checked: publishers correct what is new. */
function attemptOf(
  deps: FetchDeps,
  plan: FetchPlan,
  due: DueFile,
  state: FetchState | undefined,
  nowMs: number,
): FetchAttempt {
  const oldMs = due.dueAtMs > 0 ? (nowMs - due.dueAtMs) / 8 : 0
  return {
    state,
    nowMs,
    refetchMs: Math.max(plan.refetchMs, oldMs),
    note: (status, waitMs, failures, headers) =>
      saveState(deps, plan.source, due, { status, failures, nextAtMs: nowMs + waitMs, headers, state }),
  }
}

async function takeAnswer(
  deps: FetchDeps,
  plan: FetchPlan,
  due: DueFile,
  look: FetchAttempt,
  answer: OutboundOutcome,
): Promise<FetchOutcome> {
  const { nowMs, refetchMs, note } = look
  const failures = look.state?.failures ?? 0
  const failed = async (status: string, detail: string, waitMs = backOffMs(failures)): Promise<FetchOutcome> => {
    await note(status, waitMs, failures + 1)
    return { status: 'failed', detail }
  }
  if (answer.status !== 'ok') return failed(answer.reason, `${answer.reason}: ${answer.detail}`)
  const { httpStatus, headers } = answer
  if (httpStatus === 304) {
    await note('304', refetchMs, 0)
    return { status: 'not_modified', detail: due.name }
  }
  // Some publishers say 403 for a day that has no file yet.
  if (httpStatus === 403 || httpStatus === 404) {
    await note(String(httpStatus), Math.max(15 * 60_000, backOffMs(failures), refetchMs - plan.refetchMs), failures + 1)
    return { status: 'not_published', detail: `${httpStatus} for ${due.name}` }
  }
  if (httpStatus !== 200) {
    const waitMs = Math.max(backOffMs(failures), retryAfterMs(headers, nowMs))
    if (httpStatus === 429 || httpStatus === 503) await holdPublisher(deps, plan, nowMs + waitMs)
    const refusesKey = httpStatus === 401 && plan.key !== undefined
    return failed(String(httpStatus), `HTTP ${httpStatus}${refusesKey ? ': the key is refused' : ''}`, waitMs)
  }
  if (plan.key !== undefined && Buffer.from(answer.bytes).includes(plan.key))
    return failed('200', 'the answer repeats the key, so nothing of it is kept')
  return ingestAnswer(deps, plan, due, look, answer)
}

async function ingestAnswer(
  deps: FetchDeps,
  plan: FetchPlan,
  due: DueFile,
  { nowMs, refetchMs, note, state }: FetchAttempt,
  { bytes, headers }: OutboundOutcome & { status: 'ok' },
): Promise<FetchOutcome> {
  const outcome = await ingestFile(deps, {
    name: due.name,
    bytes,
    url: due.url,
    source: plan.source,
    ...lastModified(headers, nowMs),
  })
  if (outcome.status !== 'refused') await note('200', refetchMs, 0, headers)
  else {
    const failures = state?.failures ?? 0
    await note(`refused ${outcome.code}`, backOffMs(failures), failures + 1)
  }
  return outcome
}

const conditions = (state: FetchState | undefined): Record<string, string> => ({
  ...(state?.etag ? { 'if-none-match': state.etag } : {}),
  ...(state?.last_modified ? { 'if-modified-since': state.last_modified } : {}),
})

function withoutKey(text: string, { key }: FetchPlan): string {
  return key === undefined ? text : text.replaceAll(key, '…').replaceAll(encodeURIComponent(key), '…')
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
