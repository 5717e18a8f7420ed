import { type Address, checksumAddress } from '@assay/protocol/address'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Database } from '@assay/till/store/database'
import { z } from 'zod'

const endpointView = z.strictObject({
  id: z.string(),
  kind: z.enum(['webhook', 'email']),
  target: z.string(),
  state: z.enum(['pending', 'active', 'paused']),
  reason: z.string(),
  failing_since_at: z.string().nullable(),
  last_status: z.string().nullable(),
  last_at: z.string().nullable(),
  created_at: z.string(),
})
const watchView = z.strictObject({
  id: z.string(),
  endpoint: z.string(),
  topic: z.string(),
  subject: z.string(),
  paused: z.boolean().describe('True while it needs a plan that has ended.'),
  created_at: z.string(),
})
const deliveryView = z.strictObject({
  event: z.string(),
  endpoint: z.string(),
  state: z.enum(['pending', 'sent', 'dead']),
  attempts: z.int(),
  last_status: z.string().nullable(),
  due_at: z.string(),
})

export const ownOutput = z.strictObject({
  wallet: z.string(),
  plan_until_at: z.string().nullable(),
  free_watches: z.int(),
  endpoints: z.array(endpointView),
  watches: z.array(watchView),
  deliveries: z.array(deliveryView).describe('The latest 50.'),
})

const at = (date: Date | null) => (date === null ? null : toRfc3339(date.getTime()))

type Stored = Record<string, unknown> & { created_at: Date; failing_since: Date | null; last_at: Date | null }

/** All that a wallet has here, and what became of its deliveries. */
export async function showOwn(database: Database, wallet: Address, freeWatches: number, nowMs: number) {
  const [plan, endpoints, watches, deliveries] = await Promise.all([
    database.query<{ until_at: Date }>('select until_at from notification_plan where wallet = $1', [wallet]),
    database.query<Stored>(
      `select id, kind, target, state, reason, failing_since, last_status, last_at, created_at
       from notification_endpoint where wallet = $1 order by created_at, id`,
      [wallet],
    ),
    database.query<Record<string, unknown> & { paid: boolean; created_at: Date }>(
      'select id, endpoint, topic, subject, paid, created_at from notification_watch where wallet = $1 order by created_at, id',
      [wallet],
    ),
    database.query<Record<string, unknown> & { due_at: Date }>(
      `select e.topic || ':' || e.subject || ':' || e.key as event, d.endpoint, d.state, d.attempts, d.last_status, d.due_at
       from notification_delivery d join notification_endpoint p on p.id = d.endpoint
       join notification_event e on e.id = d.event_id where p.wallet = $1 order by d.id desc limit 50`,
      [wallet],
    ),
  ])
  const untilAt = plan.rows[0]?.until_at ?? null
  const hasPlan = untilAt !== null && untilAt.getTime() > nowMs
  return {
    wallet: checksumAddress(wallet),
    plan_until_at: at(untilAt),
    free_watches: freeWatches,
    endpoints: endpoints.rows.map(({ failing_since, last_at, created_at, ...row }) => ({
      ...row,
      failing_since_at: at(failing_since),
      last_at: at(last_at),
      created_at: at(created_at),
    })),
    watches: watches.rows.map(({ paid, created_at, ...row }) => ({
      ...row,
      paused: paid && !hasPlan,
      created_at: at(created_at),
    })),
    deliveries: deliveries.rows.map(({ due_at, ...row }) => ({ ...row, due_at: at(due_at) })),
  }
}
