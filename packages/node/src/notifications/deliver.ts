import type { JwsPort } from '@assay/till'
import { type Clock, toRfc3339 } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Database } from '@assay/till/store/database'
import { signedEvent } from '../http/index.ts'
import type { Channel, Outcome } from './channel.ts'

export type DeliveryDeps = {
  database: Database
  clock: Clock
  log: Log
  metrics: Metrics
  jws: JwsPort
  baseUrl: string
  channels: Readonly<Record<'webhook' | 'email', Channel | undefined>>
}

type Due = {
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

const roundMax = 64
const atOnce = 16
const [firstRetryMs, attemptsMax, failingMsMax] = [10_000, 9, 3 * 86_400_000]

/** One round: at most one delivery an endpoint, so that a slow one delays nobody but itself. */
export async function deliverDue(deps: DeliveryDeps): Promise<number> {
  const { rows } = await deps.database.query<Due>(
    `select * from (
       select distinct on (d.endpoint) d.id, d.attempts, d.due_at, d.endpoint, p.kind, p.target, p.failing_since,
              e.topic, e.subject, e.key, e.payload, e.at
       from notification_delivery d
       join notification_endpoint p on p.id = d.endpoint and p.state = 'active'
       join notification_event e on e.id = d.event_id
       where d.state = 'pending' and d.due_at <= $1
       order by d.endpoint, d.due_at, d.id) due
     order by due_at limit $2`,
    [new Date(deps.clock.nowMs()), roundMax],
  )
  const open = [...rows]
  const work = async () => {
    for (let due = open.shift(); due !== undefined; due = open.shift()) await deliverOne(deps, due)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return rows.length
}

async function deliverOne(deps: DeliveryDeps, due: Due): Promise<void> {
  const { topic, subject, key, at } = due
  const id = `${topic}:${subject}:${key}`
  const attributes = { id, source: deps.baseUrl, type: `assay.${topic}`, subject, time: toRfc3339(at.getTime()) }
  const text = typeof due.payload['text'] === 'string' ? due.payload['text'] : topic
  const outcome = await deps.channels[due.kind]?.send(due.target, {
    id,
    title: `${subject}: ${text}`,
    json: signedEvent(deps.jws, attributes, JSON.stringify(due.payload)),
  })
  const ended: Outcome = outcome ?? { status: 'refused', detail: `no ${due.kind} on this node` }
  deps.metrics.count('notification_deliveries', { kind: due.kind, outcome: ended.status })
  await record(deps, due, ended)
}

/** Sent, tried again later, or given up; an endpoint that fails for days, or says it is gone, is paused. */
async function record({ database, clock }: DeliveryDeps, due: Due, outcome: Outcome): Promise<void> {
  const now = new Date(clock.nowMs())
  const status = 'detail' in outcome ? outcome.detail.slice(0, 200) : 'ok'
  const sent = outcome.status === 'sent'
  const failingSince = due.failing_since ?? now
  const pauses =
    outcome.status === 'gone' || (!sent && now.getTime() - failingSince.getTime() > failingMsMax)
      ? 'failing'
      : undefined
  const dead = !sent && (due.attempts + 1 >= attemptsMax || pauses !== undefined)
  const retryMs = firstRetryMs * 3 ** due.attempts
  await database.transaction(async (tx) => {
    await tx.query(
      `update notification_delivery set attempts = attempts + 1, last_status = $2, state = $3, due_at = $4,
         ended_at = case when $3 = 'pending' then null else $5::timestamptz end where id = $1 and state = 'pending'`,
      [due.id, status, sent ? 'sent' : dead ? 'dead' : 'pending', new Date(now.getTime() + retryMs), now],
    )
    await tx.query(
      `update notification_endpoint set last_status = $2, last_at = $3, failing_since = $4,
         state = case when $5::text is null then state else 'paused' end,
         reason = coalesce($5, reason), changed_at = case when $5::text is null then changed_at else $3 end
       where id = $1 and state = 'active'`,
      [due.endpoint, status, now, sent ? null : failingSince, pauses ?? null],
    )
    if (pauses !== undefined)
      await tx.query(
        `update notification_delivery set state = 'dead', last_status = 'endpoint paused', ended_at = $2
         where endpoint = $1 and state = 'pending'`,
        [due.endpoint, now],
      )
  })
}
