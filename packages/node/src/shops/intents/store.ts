import { sha256 } from '@assay/till/kernel/bytes'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Sql, Tx } from '@assay/till/store/database'
import { appendToLog } from '../../tlog/index.ts'
import type { PublishedBucket } from '../ports.ts'
import { type Before, eventId } from './tick-event.ts'

/** A published event; `cluster` is null for the one that closes its bucket. */
export type IntentEvent = {
  seq: number
  cluster: string | null
  startsAtMs: number
  endsAtMs: number
  demand: number | null
  bonded: number | null
  /** 95 % of such figures are at most so far from the truth. */
  error: number | null
  ewma: number | null
  synthetic: boolean
  event: string
}

/** The event that closes a bucket has no separate figures. */
export const closerOf = (
  { startsAtMs, endsAtMs, synthetic }: Pick<IntentEvent, 'startsAtMs' | 'endsAtMs' | 'synthetic'>,
  seq: number,
  event: string,
): IntentEvent => ({
  seq,
  cluster: null,
  startsAtMs,
  endsAtMs,
  demand: null,
  bonded: null,
  error: null,
  ewma: null,
  synthetic,
  event,
})

export const intentChannel = 'intent_event'

/** One process at a time gives numbers, so that they have no holes and stand in the order of their commits. */
export async function lockIntents(tx: Tx): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('intent_event', 0))`)
}

export async function newestSeq(sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ seq: bigint | null }>('select max(seq) as seq from intent_event')
  return Number(rows[0]?.seq ?? 0)
}

export async function lastBucketEndMs(sql: Sql): Promise<number | undefined> {
  const { rows } = await sql.query<{ ends_at: Date }>('select ends_at from intent_bucket order by ends_at desc limit 1')
  return rows[0]?.ends_at.getTime()
}

/** End of the newest bucket in which a cluster had enough agents to be published. */
export async function lastFigureMs(sql: Sql): Promise<number | undefined> {
  const { rows } = await sql.query<{ ends_at: Date }>(
    'select ends_at from intent_event where cluster is not null order by seq desc limit 1',
  )
  return rows[0]?.ends_at.getTime()
}

/** Writes events, their buckets and their places in the transparency log, and tells every process, in one transaction. */
export async function publishEvents(tx: Tx, events: readonly IntentEvent[], publishedAtMs: number): Promise<void> {
  const [first] = events
  if (!first) return
  const closers = events.filter(({ cluster }) => cluster === null)
  await tx.query(
    `insert into intent_bucket (starts_at, ends_at, seq, synthetic, closed_at)
     select *, $5::timestamptz from unnest($1::timestamptz[], $2::timestamptz[], $3::bigint[], $4::boolean[])`,
    [
      closers.map(({ startsAtMs }) => new Date(startsAtMs)),
      closers.map(({ endsAtMs }) => new Date(endsAtMs)),
      closers.map(({ seq }) => seq),
      closers.map(({ synthetic }) => synthetic),
      new Date(publishedAtMs),
    ],
  )
  await tx.query(
    `insert into intent_event (seq, cluster, starts_at, ends_at, demand, bonded, error, ewma, synthetic, event, published_at)
     select *, $11::timestamptz from unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::integer[],
       $6::integer[], $7::double precision[], $8::double precision[], $9::boolean[], $10::text[])`,
    [
      events.map(({ seq }) => seq),
      events.map(({ cluster }) => cluster),
      events.map(({ startsAtMs }) => new Date(startsAtMs)),
      events.map(({ endsAtMs }) => new Date(endsAtMs)),
      events.map(({ demand }) => demand),
      events.map(({ bonded }) => bonded),
      events.map(({ error }) => error),
      events.map(({ ewma }) => ewma),
      events.map(({ synthetic }) => synthetic),
      events.map(({ event }) => event),
      new Date(publishedAtMs),
    ],
  )
  await appendToLog(tx, events.map(logDraft))
  await tx.query('select pg_notify($1, $2)', [intentChannel, String(events.at(-1)?.seq)])
}

/** Enough to compute any index from the log alone, and the digest of the signed event for those who hold it. */
function logDraft(one: IntentEvent) {
  const entry = {
    type: 'assay.intent/v1',
    id: eventId(one.seq),
    cluster: one.cluster,
    starts_at: toRfc3339(one.startsAtMs),
    ends_at: toRfc3339(one.endsAtMs),
    demand: one.demand,
    bonded: one.bonded,
    synthetic: one.synthetic,
    event_sha256: sha256(one.event).toString('hex'),
  }
  return { kind: 'intent', subject: `intent:${eventId(one.seq)}`, entry: Buffer.from(JSON.stringify(entry)) }
}

type EventRow = {
  seq: bigint
  cluster: string | null
  starts_at: Date
  ends_at: Date
  demand: number | null
  bonded: number | null
  error: number | null
  ewma: number | null
  synthetic: boolean
  event: string
}

const columns = 'seq, cluster, starts_at, ends_at, demand, bonded, error, ewma, synthetic, event'

const toEvent = (row: EventRow): IntentEvent => ({
  seq: Number(row.seq),
  cluster: row.cluster,
  startsAtMs: row.starts_at.getTime(),
  endsAtMs: row.ends_at.getTime(),
  demand: row.demand,
  bonded: row.bonded,
  error: row.error,
  ewma: row.ewma,
  synthetic: row.synthetic,
  event: row.event,
})

export async function eventsAfter(
  sql: Sql,
  after: number,
  limit: number,
  clusters?: readonly string[],
): Promise<IntentEvent[]> {
  const { rows } = await sql.query<EventRow>({
    name: 'intent_events_after',
    text: `select ${columns} from intent_event
      where seq > $1 and ($3::text[] is null or cluster is null or cluster = any($3)) order by seq limit $2`,
    values: [after, limit, clusters ?? null],
  })
  return rows.map(toEvent)
}

export async function eventsBetween(
  sql: Sql,
  fromMs: number,
  toMs: number,
  after: number,
  limit: number,
): Promise<IntentEvent[]> {
  const { rows } = await sql.query<EventRow>(
    `select ${columns} from intent_event where ends_at > $1 and ends_at <= $2 and seq > $3 order by seq limit $4`,
    [new Date(fromMs), new Date(toMs), after, limit],
  )
  return rows.map(toEvent)
}

/** The number before the first event that ended after this moment. */
export async function seqBefore(sql: Sql, atMs: number): Promise<number> {
  const { rows } = await sql.query<{ seq: bigint }>(
    'select seq from intent_event where ends_at > $1 order by ends_at, seq limit 1',
    [new Date(atMs)],
  )
  return rows[0] === undefined ? newestSeq(sql) : Number(rows[0].seq) - 1
}

/** The number before the bucket that was the newest then; before the first one that there is when there was none. */
export async function seqBeforeNewestBucket(sql: Sql, atMs?: number): Promise<number> {
  const { rows } = await sql.query<{ seq: bigint }>(
    `select seq from intent_event where ends_at >= coalesce(
       (select ends_at from intent_bucket where ends_at <= $1 and closed_at <= $1 order by ends_at desc limit 1), '-infinity')
     order by ends_at, seq limit 1`,
    [atMs === undefined ? 'infinity' : new Date(atMs)],
  )
  return rows[0] === undefined ? newestSeq(sql) : Number(rows[0].seq) - 1
}

/** What was last said of each of these clusters. */
export async function newestOf(sql: Sql, clusters: readonly string[]): Promise<Map<string, Before>> {
  const { rows } = await sql.query<EventRow>(
    `select e.* from unnest($1::text[]) as c(id) cross join lateral (
       select ${columns} from intent_event where cluster = c.id order by ends_at desc limit 1) e`,
    [clusters],
  )
  return new Map(
    rows.map((row) => [
      row.cluster as string,
      {
        demand: row.demand ?? 0,
        ewma: row.ewma ?? 0,
        endsAtMs: row.ends_at.getTime(),
        words: wordsIn(row.event),
      },
    ]),
  )
}

function wordsIn(event: string): Map<string, number> {
  const { data } = JSON.parse(event) as { data: { rising?: { term: string; demand: number }[] } }
  return new Map((data.rising ?? []).map(({ term, demand }) => [term, demand]))
}

export const toPublished = (one: IntentEvent): PublishedBucket => ({
  cluster: one.cluster ?? '',
  startsAtMs: one.startsAtMs,
  endsAtMs: one.endsAtMs,
  demand: one.demand,
  bonded: one.bonded,
  eventId: eventId(one.seq),
  synthetic: one.synthetic,
})

/** For one cluster every closed bucket, without figures if none were published; for all, the published cells only. */
export async function publishedBuckets(
  sql: Sql,
  range: { cluster?: string; fromMs: number; toMs: number },
): Promise<PublishedBucket[]> {
  const { rows } = await sql.query<Omit<EventRow, 'event' | 'ewma' | 'error'>>(
    range.cluster === undefined
      ? `select seq, cluster, starts_at, ends_at, demand, bonded, synthetic from intent_event
         where cluster is not null and ends_at > $1 and ends_at <= $2 order by seq`
      : `select coalesce(e.seq, b.seq) as seq, $3::text as cluster, b.starts_at, b.ends_at, e.demand, e.bonded, b.synthetic
         from intent_bucket b
         left join intent_event e on e.cluster = $3 and e.ends_at = b.ends_at and e.starts_at = b.starts_at
         where b.ends_at > $1 and b.ends_at <= $2 order by b.ends_at`,
    [new Date(range.fromMs), new Date(range.toMs), ...(range.cluster === undefined ? [] : [range.cluster])],
  )
  return rows.map((row) => toPublished(toEvent({ ...row, event: '', ewma: null, error: null })))
}

/** Events in one file of a day: about a megabyte. */
const perFile = 1_000

/** What a subscriber paid for: after this place, without the times that were given back. */
export type PaidTime = { after: number; pauses: readonly { beganMs: number; endedMs: number }[] }

const pauseValues = ({ pauses }: PaidTime) => [
  pauses.map(({ beganMs }) => new Date(beganMs)),
  pauses.map(({ endedMs }) => new Date(endedMs)),
]
/** The two parameters from `first` on are those of `pauseValues`. */
const notPaused = (first: number) =>
  `not exists (select from unnest($${first}::timestamptz[], $${first + 1}::timestamptz[]) p (began, ended)
     where ends_at > p.began and ends_at <= p.ended)`

export type EventFile = { name: string; day: string; events: number; full: boolean }

/** Files of the days (UTC) on which something was published that is paid for. */
export async function listFiles(sql: Sql, paid: PaidTime): Promise<EventFile[]> {
  const { rows } = await sql.query<{ day: string; part: bigint; events: bigint }>(
    `select day, part, count(*)::bigint as events from (
       select to_char(ends_at at time zone 'utc', 'YYYY-MM-DD') as day,
         (row_number() over (partition by date_trunc('day', ends_at at time zone 'utc') order by seq) - 1) / $2 as part
       from intent_event where seq > $1 and ${notPaused(3)}) numbered group by day, part order by day, part`,
    [paid.after, perFile, ...pauseValues(paid)],
  )
  return rows.map(({ day, part, events }) => ({
    name: `${day}.${part}`,
    day,
    events: Number(events),
    full: Number(events) === perFile,
  }))
}

export async function fileEvents(sql: Sql, name: string, paid: PaidTime): Promise<string[]> {
  const [day, part = '0'] = name.split('.')
  const fromMs = Date.parse(`${day}T00:00:00.000Z`)
  if (Number.isNaN(fromMs)) return []
  const { rows } = await sql.query<{ event: string }>(
    `select event from intent_event where ends_at >= $1 and ends_at < $2 and seq > $3 and ${notPaused(6)}
     order by seq offset $4 limit $5`,
    [
      new Date(fromMs),
      new Date(fromMs + 86_400_000),
      paid.after,
      Number(part) * perFile,
      perFile,
      ...pauseValues(paid),
    ],
  )
  return rows.map(({ event }) => event)
}

const seriesMax = 1_000

/** Figures of one cluster that are paid for, oldest first. */
export async function seriesOf(sql: Sql, cluster: string, paid: PaidTime) {
  const { rows } = await sql.query<EventRow>(
    `select ${columns} from intent_event where cluster = $1 and seq > $2 and ${notPaused(4)} order by ends_at, seq limit $3`,
    [cluster, paid.after, seriesMax + 1, ...pauseValues(paid)],
  )
  const shown = rows.slice(0, seriesMax).map(toEvent)
  const last = shown.at(-1)
  return {
    data: shown.map((one) => ({
      id: eventId(one.seq),
      starts_at: toRfc3339(one.startsAtMs),
      ends_at: toRfc3339(one.endsAtMs),
      demand: one.demand ?? 0,
      bonded: one.bonded ?? 0,
      error_95: one.error,
      ewma: one.ewma,
    })),
    next_cursor: rows.length > shown.length && last ? eventId(last.seq) : null,
  }
}
