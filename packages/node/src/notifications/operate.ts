import { writeAudit } from '@assay/till/store/audit-log'
import type { Database, Sql } from '@assay/till/store/database'

const dayMs = 86_400_000
const failingMax = 50

/** What an operator wants to know of notifications: how much waits, what was given up, and who fails. */
export async function readDeliveryStatus(sql: Sql, nowMs: number) {
  const [now, yesterday] = [new Date(nowMs), new Date(nowMs - dayMs)]
  const [endpoints, deliveries, failing] = await Promise.all([
    sql.query<{ kind: string; state: string; reason: string; endpoints: bigint }>(
      `select kind, state, reason, count(*) as endpoints from notification_endpoint
       group by kind, state, reason order by kind, state, reason`,
    ),
    sql.query<{ kind: string; waiting: bigint; oldest_due_at: Date | null; sent_day: bigint; dead_day: bigint }>(
      `select p.kind, count(*) filter (where d.state = 'pending') as waiting,
         min(d.due_at) filter (where d.state = 'pending' and d.due_at <= $1 and p.state = 'active' and p.waits_until <= $1)
           as oldest_due_at,
         count(*) filter (where d.state = 'sent' and d.ended_at > $2) as sent_day,
         count(*) filter (where d.state = 'dead' and d.ended_at > $2) as dead_day
       from notification_delivery d join notification_endpoint p on p.id = d.endpoint group by p.kind order by p.kind`,
      [now, yesterday],
    ),
    sql.query<{
      id: string
      kind: string
      target: string
      state: string
      failing_since: Date
      waits_until: Date
      last_status: string | null
      waiting: bigint
    }>(
      `select p.id, p.kind, p.target, p.state, p.failing_since, p.waits_until, p.last_status,
         (select count(*) from notification_delivery d where d.endpoint = p.id and d.state = 'pending') as waiting
       from notification_endpoint p where p.failing_since is not null order by p.failing_since, p.id limit $1`,
      [failingMax],
    ),
  ])
  return { endpoints: endpoints.rows, deliveries: deliveries.rows, failing: failing.rows }
}

export type OperatorAct = { actor: string; reason: string }

/** Nothing more is sent to a target, nor a challenge, no matter who asks for it. Returns how many endpoints were stopped. */
export async function blockTarget(
  database: Database,
  target: string,
  act: OperatorAct,
  nowMs: number,
): Promise<number> {
  return database.transaction(async (tx) => {
    const now = new Date(nowMs)
    const { rows } = await tx.query<{ id: string }>(
      `update notification_endpoint set state = 'paused', reason = 'operator', challenge_due = false, changed_at = $2
       where target = $1 returning id`,
      [target, now],
    )
    await tx.query(
      `update notification_delivery set state = 'dead', last_status = 'endpoint paused', ended_at = $2
       where endpoint = any($1) and state = 'pending'`,
      [rows.map(({ id }) => id), now],
    )
    if (rows.length > 0) await audit(tx, 'notifications.block', target, act)
    return rows.length
  })
}

/** Deliveries that were given up are due again, and their endpoints wait no longer. Paused endpoints stay paused. */
export async function retryDead(
  database: Database,
  endpoint: string | undefined,
  act: OperatorAct,
  nowMs: number,
): Promise<number> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ endpoint: string }>(
      `update notification_delivery d set state = 'pending', attempts = 0, due_at = $2, ended_at = null
       from notification_endpoint p
       where p.id = d.endpoint and p.state = 'active' and d.state = 'dead' and ($1::text is null or p.id = $1)
       returning d.endpoint`,
      [endpoint ?? null, new Date(nowMs)],
    )
    await tx.query(`update notification_endpoint set waits_until = '-infinity' where id = any($1)`, [
      [...new Set(rows.map((row) => row.endpoint))],
    ])
    if (rows.length > 0) await audit(tx, 'notifications.retry', endpoint ?? 'all', act)
    return rows.length
  })
}

const audit = (tx: Parameters<typeof writeAudit>[0], action: string, subject: string, { actor, reason }: OperatorAct) =>
  writeAudit(tx, { actor, action, subject, details: { reason } })
