import type { TillJob } from '@assay/till/compose'
import type { Database, Tx } from '@assay/till/store/database'
import type { Notifications } from '../../../notifications/index.ts'
import type { Topic } from '../../topic.ts'
import { type FeedId, feedIds } from '../feeds/feed.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { isSnapshot, type SnapshotCache } from '../snapshots/snapshot-cache.ts'
import { type Checked, checkRules, type Seen } from './check-rules.ts'
import { parseRule, type Rule } from './rule.ts'

export const alertTopic: Topic = {
  name: 'matrix.alert',
  title: 'Market data alerts',
  subjects: 'a rule, such as `squeeze:GME:score>80`',
  example: 'squeeze:GME:score>80',
  // A figure of a feed that is sold is for those who watch it.
  isPublic: false,
  subjectOf: (text) => parseRule(text)?.text,
}

export type AlertDeps = { database: Database; snapshotCache: Pick<SnapshotCache, 'current'>; events: Notifications }

/** Holds what is watched against each new snapshot of what is sold. Where neither is new, no rule is read. */
export function alertJob(deps: AlertDeps): TillJob {
  const due = `exists (select from notification_watch where topic = '${alertTopic.name}') or exists (select from matrix_alert)`
  let checked = ''
  const work = async () => {
    const shown = feedIds.map((feed) => deps.snapshotCache.current(feed, 'live'))
    const version = await deps.events.watchedVersion(alertTopic.name)
    const now = [version, ...shown.map((found) => (isSnapshot(found) ? found.sha256 : ''))].join()
    if (now === checked) return 0
    const sent = await checkAlerts(deps)
    checked = now
    return sent
  }
  return { name: 'matrix.alerts', intervalMs: 1_000, work, due }
}

/** One transaction a feed: alerts are published together with the record that they were, so that none is sent twice or lost. */
export async function checkAlerts({ database, snapshotCache, events }: AlertDeps): Promise<number> {
  const rules = (await events.watched(alertTopic.name)).flatMap((text) => parseRule(text) ?? [])
  await database.query('delete from matrix_alert where rule not in (select unnest($1::text[]))', [
    rules.map(({ text }) => text),
  ])
  let sent = 0
  for (const [feed, own] of byFeed(rules)) {
    const snapshot = snapshotCache.current(feed, 'live')
    if (!isSnapshot(snapshot)) continue
    sent += await database.transaction(async (tx) => {
      await tx.query(`select pg_advisory_xact_lock(hashtextextended('matrix alerts', 21))`)
      const { open, before } = await notYetChecked(tx, own, snapshot)
      if (open.length === 0) return 0
      const checked = checkRules(snapshot, open, before)
      await events.publish(tx, alertTopic.name, checked.alerts)
      await remember(tx, snapshot, checked)
      return checked.alerts.length
    })
  }
  return sent
}

function byFeed(rules: readonly Rule[]): Map<FeedId, Rule[]> {
  const found = new Map<FeedId, Rule[]>()
  for (const rule of rules) {
    const own = found.get(rule.feed)
    if (own) own.push(rule)
    else found.set(rule.feed, [rule])
  }
  return found
}

async function notYetChecked(tx: Tx, rules: readonly Rule[], snapshot: Snapshot) {
  const { rows } = await tx.query<{ rule: string; same: boolean; figure: number | null; holds: boolean }>(
    `select rule, sha256 = decode($2, 'hex') as same, figure, holds from matrix_alert where rule = any($1::text[])`,
    [rules.map(({ text }) => text), snapshot.sha256],
  )
  const before = new Map<string, Seen>(rows.map(({ rule, figure, holds }) => [rule, { figure, holds }]))
  const done = new Set(rows.flatMap(({ rule, same }) => (same ? [rule] : [])))
  return { before, open: rules.filter(({ text }) => !done.has(text)) }
}

async function remember(tx: Tx, { sha256 }: Snapshot, { seen }: Checked): Promise<void> {
  await tx.query(
    `insert into matrix_alert (rule, sha256, figure, holds)
     select rule, decode($2, 'hex'), figure, holds from unnest($1::text[], $3::float8[], $4::boolean[]) as given (rule, figure, holds)
     on conflict (rule) do update set sha256 = excluded.sha256, figure = excluded.figure, holds = excluded.holds`,
    [
      [...seen.keys()],
      sha256,
      [...seen.values()].map(({ figure }) => figure),
      [...seen.values()].map(({ holds }) => holds),
    ],
  )
}
