import { type Checkpoint, parseCheckpoint } from '@assay/protocol/log/checkpoint'
import { isSignedBy, parseNoteKey } from '@assay/protocol/log/signed-note'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Database, Sql, Tx } from '@assay/till/store/database'
import type { TransparencyLog } from './open-log.ts'
import type { HeadSource, OutsideReport } from './outside-heads.ts'
import { lockTree, rootAt } from './store.ts'

export type CheckDeps = {
  database: Database
  log: Log
  metrics: Metrics
  tree: Pick<TransparencyLog, 'origin' | 'keys' | 'reset'>
  /** Since when a witness must have been asked itself: what the database says of it may be restored. */
  confirmAfter?: Date | undefined
}

/** What is kept of a source: the highest head it showed, or what a witness said. */
export type KnownHead = {
  source: string
  size: number
  root: Uint8Array | null
  note: string | null
  agrees: boolean
  reason: string | null
}

type Verdict = { now: Date; unchecked: boolean; unconfirmed: boolean; forked: boolean }

export type OutsideCheck = { reached: string[]; unreached: string[]; forkReason: string | null }

/**
 * Asks everyone who may hold a head of this log and compares. Signing reads nothing but the verdict, so it never waits
 * for the network.
 */
export async function compareWithWitnesses(deps: CheckDeps, sources: readonly HeadSource[]): Promise<OutsideCheck> {
  const { database } = deps
  const { rows } = await database.query<Verdict>(
    `select clock_timestamp() as now, fork_reason is not null as forked,
       coalesce(checked_at < $1, $1::timestamptz is not null) as unconfirmed,
       exists (select from restore_gap where noticed_at > coalesce(checked_at, '-infinity')) as unchecked from log_tree`,
    [deps.confirmAfter ?? null],
  )
  const { now, unchecked, unconfirmed, forked } = rows[0] as Verdict
  // What was computed from the database of before says nothing about this one.
  if (unchecked) deps.tree.reset()
  const answers = await Promise.all(
    sources.map((source) =>
      source.outsideHeads(unchecked || unconfirmed || forked || !asked.has(database)).then(
        (reports) => ({ source, reports }),
        (error: unknown) => ({ source, reports: undefined, error: String(error).slice(0, 200) }),
      ),
    ),
  )
  asked.add(database)
  const reached = answers.filter(({ reports }) => reports).map(({ source }) => source)
  const verdict = await database.transaction(async (tx) => {
    const reports = answers.flatMap(({ reports }) => reports ?? [])
    await keepReports(deps, tx, sources, reports)
    return conclude(deps, tx, enough(sources, reached, unchecked) ? now : undefined)
  })
  if (verdict.isNew) {
    deps.metrics.count('alarms', { alarm: 'log_forked' })
    deps.log.error({ reason: verdict.forkReason }, 'the log does not extend a head that others hold; it is stopped')
  }
  if (verdict.ended) deps.log.info({}, 'the log extends every head that others hold; it goes on')
  const names = (list: readonly HeadSource[]) => list.map(({ name }) => name)
  return {
    reached: names(reached),
    unreached: names(sources.filter((source) => !reached.includes(source))),
    forkReason: verdict.forkReason,
  }
}

/** Databases this process has compared once: a start asks everyone, whatever is known from before. */
const asked = new WeakSet<Database>()

/**
 * Needs an answer from a configured witness, which sees every head; without any, one of the others is enough, but not after a
 * restore: heads were signed since the last anchor, or since a peer was asked, and a second head of one size is a fork.
 */
function enough(sources: readonly HeadSource[], reached: readonly HeadSource[], afterRestore: boolean): boolean {
  const needed = sources.filter(({ seesEveryHead }) => seesEveryHead)
  return (needed.length > 0 || afterRestore ? needed : sources).some((source) => reached.includes(source))
}

async function keepReports(
  deps: CheckDeps,
  tx: Tx,
  sources: readonly HeadSource[],
  reports: readonly OutsideReport[],
): Promise<void> {
  const { size } = await lockTree(tx)
  const roots = new Map<number, Buffer>()
  for (const report of reports) {
    if (!('note' in report)) {
      // Reported before another process signed a larger head: the witness is asked again.
      if (!(report.larger && report.size <= size)) await keepHead(tx, { ...report, root: null, note: null })
      continue
    }
    const head = await ownHead(deps, report.note)
    if (!head || (await isFormer(tx, head))) continue
    const reason = await difference(tx, size, { ...head, source: report.source }, roots)
    await keepHead(tx, { ...report, size: head.size, root: head.root, agrees: reason === null, reason })
  }
  // A head that we signed proves itself, from any source. A size that a witness only stated counts while that witness
  // is configured.
  await tx.query('delete from log_outside_head where note is null and not source = any($1)', [
    sources.map(({ name }) => name),
  ])
}

/** Undefined unless a key of this log signed it: anybody can write a head under our name. */
export async function ownHead({ tree }: Pick<CheckDeps, 'tree'>, note: string): Promise<Checkpoint | undefined> {
  const parsed = parseCheckpoint(note)
  if (!parsed || parsed.origin !== tree.origin) return undefined
  const keys = tree.keys().flatMap((vkey) => parseNoteKey(vkey) ?? [])
  const signed = await Promise.all(keys.map((key) => isSignedBy(parsed, key)))
  return signed.includes(true) ? parsed : undefined
}

/** A repair has dealt with it: it was published in a fork, which is on record. */
async function isFormer(tx: Tx, { origin, size, root }: Checkpoint): Promise<boolean> {
  const { rowCount } = await tx.query('select from log_former_head where origin = $1 and size = $2 and root = $3', [
    origin,
    size,
    root,
  ])
  return rowCount > 0
}

/** The newest word of a witness. Of signed heads the largest, and one that contradicts us before one that does not. */
async function keepHead(tx: Tx, head: KnownHead): Promise<void> {
  await tx.query(
    `insert into log_outside_head as h (source, size, root, note, agrees, reason) values ($1, $2, $3, $4, $5, $6)
     on conflict (source) do update set size = excluded.size, root = excluded.root, note = excluded.note,
       agrees = excluded.agrees, reason = excluded.reason, seen_at = clock_timestamp()
     where excluded.root is null or (h.agrees and not excluded.agrees)
       or (h.agrees = excluded.agrees and excluded.size >= h.size)`,
    [head.source, head.size, head.root, head.note, head.agrees, head.reason],
  )
}

export async function readOutsideHeads(sql: Sql): Promise<KnownHead[]> {
  const { rows } = await sql.query<Omit<KnownHead, 'size'> & { size: bigint }>(
    'select source, size, root, note, agrees, reason from log_outside_head order by size desc, source',
  )
  return rows.map((row) => ({ ...row, size: Number(row.size) }))
}

/** Compares every kept head with the tree as it is now, and stops the log or lets it go on. */
async function conclude(
  deps: CheckDeps,
  tx: Tx,
  checkedAt: Date | undefined,
): Promise<{ forkReason: string | null; isNew: boolean; ended: boolean }> {
  const { size, forkReason: before } = await lockTree(tx)
  const heads = await dropForeign(deps, tx, await readOutsideHeads(tx))
  const roots = new Map<number, Buffer>()
  for (const head of heads) {
    if (head.root === null) continue
    const agreed = head.agrees
    head.reason = await difference(tx, size, head as { source: string; size: number; root: Uint8Array }, roots)
    head.agrees = head.reason === null
    if (head.agrees !== agreed)
      await tx.query('update log_outside_head set agrees = $2, reason = $3 where source = $1', [
        head.source,
        head.agrees,
        head.reason,
      ])
  }
  const forkReason = heads.find(({ agrees }) => !agrees)?.reason ?? null
  await tx.query(
    `update log_tree set fork_reason = $1, forked_at = case when $1::text is null then null else coalesce(forked_at, now()) end,
       checked_at = greatest(checked_at, $2)`,
    [forkReason, checkedAt ?? null],
  )
  return { forkReason, isNew: before === null && forkReason !== null, ended: before !== null && forkReason === null }
}

/** A stored head whose only signers were revoked since no longer counts: somebody who stole the key may have signed it. */
async function dropForeign(deps: CheckDeps, tx: Tx, heads: readonly KnownHead[]): Promise<KnownHead[]> {
  const kept: KnownHead[] = []
  for (const head of heads)
    if (head.note === null || (await ownHead(deps, head.note))) kept.push(head)
    else await tx.query('delete from log_outside_head where source = $1', [head.source])
  return kept
}

async function difference(
  tx: Tx,
  size: number,
  head: { source: string; size: number; root: Uint8Array },
  /** Most hold the same head. */
  roots = new Map<number, Buffer>(),
): Promise<string | null> {
  if (head.size > size) return `${head.source} holds a signed head of size ${head.size}, and our tree has ${size}`
  const root = roots.get(head.size) ?? (await rootAt(tx, head.size))
  roots.set(head.size, root)
  if (root.equals(head.root)) return null
  return `${head.source} holds a signed head of size ${head.size} with another root than our tree has there`
}
