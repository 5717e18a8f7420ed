import type { JwsPort } from '@assay/till/internal'
import { type Clock, toRfc3339 } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Database } from '@assay/till/store/database'
import { signedEvent } from '../http/index.ts'
import type { Channel, Message, Outcome } from './channel.ts'
import { fanOut } from './events.ts'
import { beginAttempt, type Due, recordOutcome } from './record-outcome.ts'

export type DeliveryDeps = {
  database: Database
  clock: Clock
  log: Log
  metrics: Metrics
  jws: JwsPort
  baseUrl: string
  channels: Readonly<Record<'webhook' | 'email', Channel | undefined>>
}

/**
 * How many are asked at once. Mail does not use the places of webhooks, and endpoints that failed the last time do not use
 * those of the others: one that hangs delays only what hangs too.
 */
const places = { webhook: 32, webhook_failing: 8, email: 8, email_failing: 2 }
type DeliveryClass = keyof typeof places

/** Several deliveries end between two reads of what is due, so that a long backlog is not sorted again for each. */
const [pollMsMin, pollMsMax] = [50, 500]

/** Whether an event or a delivery waits. */
export const deliveryDueSql = `exists (select from notification_event where fan_out)
  or exists (select from notification_delivery where state = 'pending' and due_at <= $1)`

/** Sends what is due, at most one delivery an endpoint at a time, until nothing is due or the signal is aborted. */
export async function deliverDue(deps: DeliveryDeps, signal?: AbortSignal): Promise<void> {
  const running = new Map<string, { deliveryClass: DeliveryClass; ended: Promise<void> }>()
  const failures: unknown[] = []
  for (;;) {
    // Without its database it stops: what cannot be recorded would be sent again and again.
    const stopped = () => signal?.aborted === true || failures.length > 0
    const due = stopped() ? [] : await readDue(deps, [...running.keys()])
    for (const one of stopped() ? [] : due) {
      const deliveryClass = classOf(one)
      if (
        [...running.values()].filter((other) => other.deliveryClass === deliveryClass).length >= places[deliveryClass]
      )
        continue
      const ended = deliverOne(deps, one)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(one.endpoint))
      running.set(one.endpoint, { deliveryClass, ended })
    }
    if (running.size === 0) break
    const pause = new AbortController()
    const paused = deps.clock.sleep(pollMsMax, pause.signal).catch(() => {})
    const oneEnded = Promise.race([paused, ...[...running.values()].map(({ ended }) => ended)])
    await Promise.all([deps.clock.sleep(pollMsMin), oneEnded])
    pause.abort()
  }
  if (failures.length > 0) throw failures[0]
}

const classOf = ({ kind, failing_since }: Due): DeliveryClass => (failing_since === null ? kind : `${kind}_failing`)

/** The oldest delivery of each endpoint that is neither busy nor waiting; the longest due of each deliveryClass. */
async function readDue({ database, clock }: DeliveryDeps, busy: readonly string[]): Promise<Due[]> {
  while ((await fanOut(database, clock.nowMs())) > 0);
  const { rows } = await database.query<Due>(
    `select * from (
       select due.*, row_number() over (partition by kind, failing_since is null order by due_at, id) as place from (
         select distinct on (d.endpoint) d.id, d.attempts, d.due_at, d.endpoint, p.kind, p.target, p.failing_since,
                e.topic, e.subject, e.key, e.payload, e.at
         from notification_delivery d
         join notification_endpoint p on p.id = d.endpoint and p.state = 'active'
         join notification_event e on e.id = d.event_id
         where d.state = 'pending' and d.due_at <= $1 and p.waits_until <= $1 and d.endpoint <> all($2)
         order by d.endpoint, d.due_at, d.id) due) ranked
     where place <= $3 order by place`,
    [new Date(clock.nowMs()), busy, Math.max(...Object.values(places))],
  )
  return rows
}

async function deliverOne(deps: DeliveryDeps, due: Due): Promise<void> {
  if (!(await beginAttempt(deps, due))) return
  const { topic, subject, key, at } = due
  const id = `${topic}:${subject}:${key}`
  const attributes = { id, source: deps.baseUrl, type: `assay.${topic}`, subject, time: toRfc3339(at.getTime()) }
  const text = typeof due.payload['text'] === 'string' ? due.payload['text'] : topic
  const message = () => ({
    id,
    title: `${subject}: ${text}`,
    json: signedEvent(deps.jws, attributes, JSON.stringify(due.payload)),
  })
  const outcome = await send(deps, due, message)
  deps.metrics.count('notification_deliveries', { kind: due.kind, outcome: outcome.status })
  await recordOutcome(deps, due, outcome)
}

/** An error of ours in one message is a failure of that message: the others do not wait for it. */
async function send(deps: DeliveryDeps, { kind, target }: Due, message: () => Message): Promise<Outcome> {
  const channel = deps.channels[kind]
  if (channel === undefined) return { status: 'unavailable', detail: `no ${kind} on this node` }
  try {
    return await channel.send(target, message())
  } catch (error) {
    deps.log.error({ error: String(error).slice(0, 300) }, 'a notification could not be sent')
    return { status: 'failed', detail: 'could not be sent' }
  }
}
