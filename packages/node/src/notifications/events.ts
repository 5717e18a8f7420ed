import type { Json } from '@assay/protocol/canonical-json'
import type { Clock } from '@assay/till/kernel/clock'
import type { Database, Sql } from '@assay/till/store/database'
import type { Topic } from '../shops/topic.ts'
import type { Notifications } from './port.ts'

/** The outbox of the node: what shops publish, and what feeds and lists read. */
export function createNotifications(
  { database, clock }: { database: Database; clock: Clock },
  topics: ReadonlyMap<string, Topic>,
): Notifications {
  return {
    publish: async (tx, topic, events) => {
      if (!topics.has(topic)) throw new Error(`no topic ${topic}`)
      if (events.length === 0) return
      await tx.query(
        `insert into notification_event (topic, subject, key, payload, at, fan_out)
         select $1, one->>'subject', one->>'key', one->'payload', $3, coalesce((one->>'news')::boolean, true)
         from jsonb_array_elements($2::jsonb) with ordinality as given (one, place) order by place
         on conflict do nothing`,
        [topic, JSON.stringify(events), new Date(clock.nowMs())],
      )
    },
    watched: async (topic) => {
      const { rows } = await database.query<{ subject: string }>(
        'select distinct subject from notification_watch where topic = $1 order by subject',
        [topic],
      )
      return rows.map(({ subject }) => subject)
    },
    watchedVersion: async (topic) => {
      const { rows } = await database.query<{ version: string }>({
        name: 'notification_watched_version',
        text: `select count(*) || ' ' || coalesce(sum(hashtextextended(subject, 0)), 0) as version
          from notification_watch where topic = $1`,
        values: [topic],
      })
      return rows[0]?.version ?? ''
    },
    recent: (topic, page) => recentEvents(database, topic, page),
  }
}

async function recentEvents(sql: Sql, topic: string, page: Parameters<Notifications['recent']>[1]) {
  const { rows } = await sql.query<{ id: bigint; subject: string; at: Date; payload: { [key: string]: Json } }>(
    `select id, subject, at, payload from notification_event
     where topic = $1 and ($2::text is null or subject = $2) and ($3::bigint is null or id < $3)
     order by id desc limit $4`,
    [topic, page.subject ?? null, page.before ?? null, page.limit],
  )
  return rows.map(({ at, ...row }) => ({ ...row, atMs: at.getTime() }))
}

const backlogMax = 1_000

/** Writes one delivery for each endpoint that watches the subject and is paid for; once per event, whatever crashes. */
export async function fanOut(database: Database, nowMs: number, eventsMax = 200): Promise<number> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: bigint }>(
      'select id from notification_event where fan_out order by id limit $1 for update skip locked',
      [eventsMax],
    )
    if (rows.length === 0) return 0
    const ids = rows.map(({ id }) => id)
    await tx.query(
      `insert into notification_delivery (event_id, endpoint, due_at)
       select distinct e.id, w.endpoint, $2::timestamptz
       from notification_event e
       join notification_watch w on w.topic = e.topic and w.subject = e.subject and w.created_at <= e.at
       join notification_endpoint p on p.id = w.endpoint and p.state = 'active'
       left join notification_plan plan on plan.wallet = w.wallet
       where e.id = any($1) and (not w.paid or plan.until_at > $2)
         and (select count(*) from notification_delivery d where d.endpoint = w.endpoint and d.state = 'pending') < $3
       on conflict do nothing`,
      [ids, new Date(nowMs), backlogMax],
    )
    await tx.query('update notification_event set fan_out = false where id = any($1)', [ids])
    return rows.length
  })
}

const dayMs = 86_400_000
const eventsMax = 200_000

/** The end of everything that is kept. */
export async function deleteOld(database: Database, nowMs: number): Promise<void> {
  const ago = (days: number) => new Date(nowMs - days * dayMs)
  const rules: [string, unknown[]][] = [
    ['delete from notification_event where at < $1', [ago(90)]],
    [
      'delete from notification_event where id <= (select id from notification_event order by id desc offset $1 limit 1)',
      [eventsMax],
    ],
    [`delete from notification_delivery where state <> 'pending' and ended_at < $1`, [ago(14)]],
    [`delete from notification_endpoint where state = 'pending' and changed_at < $1`, [ago(1)]],
    [
      `delete from notification_endpoint where state = 'paused' and reason <> 'operator' and changed_at < $1`,
      [ago(90)],
    ],
    ['delete from notification_challenge where at < $1', [ago(1)]],
    [
      `delete from notification_watch w where paid and not exists
         (select from notification_plan p where p.wallet = w.wallet and p.until_at > $1)`,
      [ago(30)],
    ],
    ['delete from notification_plan where until_at < $1', [ago(60)]],
  ]
  for (const [sql, values] of rules) await database.query(sql, values)
}
