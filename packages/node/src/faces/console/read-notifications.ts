import type { Sql } from '@assay/till/store/database'
import { z } from 'zod'
import { readDeliveryStatus } from '../../notifications/index.ts'

const count = z.int().nonnegative()

export const notificationsShape = z.strictObject({
  endpoints: z.array(z.strictObject({ kind: z.string(), state: z.string(), reason: z.string(), endpoints: count })),
  deliveries: z.array(
    z.strictObject({
      kind: z.string(),
      waiting: count,
      late_since: z.string().nullable().describe('The oldest that is due to an endpoint which takes deliveries.'),
      sent_day: count,
      given_up_day: count,
    }),
  ),
  failing: z
    .array(
      z.strictObject({
        id: z.string(),
        kind: z.string(),
        target: z.string(),
        failing_since: z.string(),
        last_status: z.string().nullable(),
        waiting: count,
      }),
    )
    .describe('Endpoints that fail, longest first.'),
})

/** How deliveries to webhooks and mail addresses go. */
export async function readNotifications(sql: Sql, nowMs: number): Promise<z.infer<typeof notificationsShape>> {
  const { endpoints, deliveries, failing } = await readDeliveryStatus(sql, nowMs)
  return {
    endpoints: endpoints.map((row) => ({ ...row, endpoints: Number(row.endpoints) })),
    deliveries: deliveries.map(({ kind, waiting, oldest_due_at, sent_day, dead_day }) => ({
      kind,
      waiting: Number(waiting),
      late_since: oldest_due_at?.toISOString() ?? null,
      sent_day: Number(sent_day),
      given_up_day: Number(dead_day),
    })),
    failing: failing.map(({ id, kind, target, failing_since, last_status, waiting }) => ({
      id,
      kind,
      target,
      failing_since: failing_since.toISOString(),
      last_status,
      waiting: Number(waiting),
    })),
  }
}
