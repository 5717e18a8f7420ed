import type { Clock } from '@assay/till/kernel/clock'
import type { Database } from '@assay/till/store/database'
import type { Outcome } from './channel.ts'

export type Due = {
  id: bigint
  attempts: number
  endpoint: string
  kind: 'webhook' | 'email'
  target: string
  failing_since: Date | null
  topic: string
  subject: string
  key: string
  payload: Record<string, unknown>
  at: Date
}

type RecordDeps = { database: Database; clock: Clock }

const hourMs = 3_600_000
const [firstRetryMs, attemptsMax, failingMsMax] = [10_000, 9, 72 * hourMs]
/** While the operator's own server is away. */
const unavailableRetryMs = 60_000

const retryMs = (attempts: number) => firstRetryMs * 3 ** attempts

/** An attempt is counted before it is made: neither a crash nor a second process makes it twice. */
export async function beginAttempt({ database, clock }: RecordDeps, { id, attempts }: Due): Promise<boolean> {
  const { rowCount } = await database.query(
    `update notification_delivery set attempts = attempts + 1, due_at = $3
     where id = $1 and attempts = $2 and state = 'pending'`,
    [id, attempts, new Date(clock.nowMs() + retryMs(attempts))],
  )
  return rowCount === 1
}

/** Sent, tried again later, or given up; an endpoint that fails for days, or says it is gone, is paused. */
export async function recordOutcome(deps: RecordDeps, due: Due, outcome: Outcome): Promise<void> {
  if (outcome.status === 'unavailable') return recordUnavailable(deps, due, outcome.detail)
  const { database, clock } = deps
  const nowMs = clock.nowMs()
  const now = new Date(nowMs)
  const status = 'detail' in outcome ? outcome.detail.slice(0, 200) : 'ok'
  const sent = outcome.status === 'sent'
  const failingSince = due.failing_since ?? now
  const failingMs = nowMs - failingSince.getTime()
  const pauses = outcome.status === 'gone' || (!sent && failingMs > failingMsMax) ? 'failing' : undefined
  const dead = !sent && (due.attempts + 1 >= attemptsMax || outcome.status === 'rejected' || pauses !== undefined)
  const pauseMs = sent ? 0 : Math.min(Math.max(failingMs, firstRetryMs), hourMs)
  await database.transaction(async (tx) => {
    await tx.query(
      `update notification_delivery set last_status = $2, state = $3, due_at = $4,
         ended_at = case when $3 = 'pending' then null else $5::timestamptz end where id = $1 and state = 'pending'`,
      [due.id, status, sent ? 'sent' : dead ? 'dead' : 'pending', new Date(nowMs + retryMs(due.attempts)), now],
    )
    await tx.query(
      `update notification_endpoint set last_status = $2, last_at = $3, failing_since = $4, waits_until = $6,
         state = case when $5::text is null then state else 'paused' end,
         reason = coalesce($5, reason), changed_at = case when $5::text is null then changed_at else $3 end
       where id = $1 and state = 'active'`,
      [due.endpoint, status, now, sent ? null : failingSince, pauses ?? null, new Date(nowMs + pauseMs)],
    )
    if (pauses !== undefined)
      await tx.query(
        `update notification_delivery set state = 'dead', last_status = 'endpoint paused', ended_at = $2
         where endpoint = $1 and state = 'pending'`,
        [due.endpoint, now],
      )
  })
}

/** Not the endpoint's fault: no attempt is counted and nobody is paused, but three days later it is no news any more. */
async function recordUnavailable({ database, clock }: RecordDeps, due: Due, detail: string): Promise<void> {
  const now = new Date(clock.nowMs())
  const dead = now.getTime() - due.at.getTime() > failingMsMax
  await database.query(
    `update notification_delivery set attempts = $2, last_status = $3, state = $4, due_at = $5,
       ended_at = case when $4 = 'pending' then null else $6::timestamptz end where id = $1 and state = 'pending'`,
    [due.id, due.attempts, detail, dead ? 'dead' : 'pending', new Date(now.getTime() + unavailableRetryMs), now],
  )
}
