import { keyStatementEntry, restoreStatements } from '@assay/till/signing'
import { writeAudit } from '@assay/till/store/audit-log'
import type { Database, Tx } from '@assay/till/store/database'
import { lockTree, newestCheckpoint, writeTiles } from '../store.ts'
import { tileWidth } from '../tiles.ts'
import { describeEntry, type LogEntryType } from './describe-entry.ts'
import { RepairImpossible, type RepairPlan } from './plan-repair.ts'

/** Sent to every process of the node: what it holds of the tree in memory is stale. */
export const repairedChannel = 'log_repaired'

export type RepairDone = { restored: number; moved: number; size: number; keyStatements: number }

/**
 * Puts the leaves back in their places, in one transaction: a crash leaves the log as it was. `database` works as the
 * owner, for the node itself may not move a leaf. Whether the log goes on is decided when the outside is next asked.
 */
export async function rewriteLog(
  database: Database,
  plan: RepairPlan,
  types: readonly LogEntryType[],
  by: { actor: string; reason: string; nowMs: number; operators: readonly string[] },
): Promise<RepairDone> {
  return database.transaction(async (tx) => {
    const { size } = await lockTree(tx)
    const root = (await newestCheckpoint(tx))?.root
    if (size !== plan.ownSize || !(root === plan.ownRoot || root?.equals(plan.ownRoot ?? Buffer.alloc(0))))
      throw new RepairImpossible('the log changed while the repair was planned; run it again')
    await allowRewriting(tx, true)
    const moved = await clearFrom(tx, plan.origin, plan.from)
    await writeTiles(tx, plan.tiles)
    const { taken, added } = await placeRestored(tx, plan, types)
    await writeHeads(tx, plan, by.nowMs)
    await tx.query('update log_tree set size = $1', [plan.head.size])
    await allowRewriting(tx, false)
    const keyStatements = await restoreStatements(tx, statementsIn(plan), by)
    const done = { restored: added, moved: moved - taken, size: plan.head.size, keyStatements }
    await writeAudit(tx, {
      actor: by.actor,
      action: 'log.repair',
      subject: plan.origin,
      details: { reason: by.reason, from: plan.from, ...done },
    })
    await tx.query('select pg_notify($1, $2)', [repairedChannel, ''])
    return done
  })
}

/** What the restored leaves say about keys. */
const statementsIn = ({ leaves }: RepairPlan): unknown[] =>
  leaves.flatMap(({ entry }) => {
    try {
      const fields: unknown = JSON.parse(Buffer.from(entry).toString('utf8'))
      return (fields as { type?: unknown } | null)?.type === keyStatementEntry ? [fields] : []
    } catch {
      return []
    }
  })

const guards: readonly [string, string][] = [
  ['log_entry', 'log_entry_keeps_its_place'],
  ['log_tile', 'log_tile_only_grows'],
  ['log_tile', 'log_tile_is_kept'],
  ['log_checkpoint', 'log_checkpoint_is_kept'],
]

/** For this transaction alone: nobody else can write to these tables until it ends. */
export async function allowRewriting(tx: Tx, allowed: boolean): Promise<void> {
  for (const [table, trigger] of guards)
    await tx.query(`alter table ${table} ${allowed ? 'disable' : 'enable'} trigger ${trigger}`)
}

/** Takes leaves, tiles and heads behind `from` out of the tree; none of the entries and heads is lost. */
export async function clearFrom(tx: Tx, origin: string, from: number): Promise<number> {
  const { rowCount } = await tx.query('update log_entry set leaf_index = null where leaf_index >= $1', [from])
  for (let level = 0, hashes = from; level < 8; level += 1, hashes = Math.floor(hashes / tileWidth))
    await tx.query('delete from log_tile where level = $1 and tile >= $2', [level, Math.floor(hashes / tileWidth)])
  await tx.query(
    `insert into log_former_head (origin, size, root, note, signed_at)
     select $1, size, root, note, signed_at from log_checkpoint where size > $2 on conflict do nothing`,
    [origin, from],
  )
  for (const table of ['log_anchor', 'log_cosignature', 'log_checkpoint'])
    await tx.query(`delete from ${table} where size > $1`, [from])
  return rowCount
}

/** An entry that is in the database already takes the place of its own leaf; the others come from the sources. */
async function placeRestored(
  tx: Tx,
  { from, leaves }: RepairPlan,
  types: readonly LogEntryType[],
): Promise<{ taken: number; added: number }> {
  const { rows } = await tx.query<{ id: bigint; leaf_hash: Buffer }>(
    'select id, leaf_hash from log_entry where leaf_index is null and leaf_hash = any($1) order by id',
    [leaves.map(({ hash }) => hash)],
  )
  const present = new Map(rows.map(({ id, leaf_hash }) => [leaf_hash.toString('hex'), id]))
  const taken: { id: bigint; index: number }[] = []
  const added: { index: number; entry: Buffer; hash: Buffer; kind: string; subject: string }[] = []
  for (const [n, { entry, hash }] of leaves.entries()) {
    const id = present.get(hash.toString('hex'))
    present.delete(hash.toString('hex'))
    if (id !== undefined) taken.push({ id, index: from + n })
    else added.push({ index: from + n, entry, hash, ...describeEntry(types, entry, from + n) })
  }
  await tx.query(
    `update log_entry e set leaf_index = n.index from unnest($1::bigint[], $2::bigint[]) n (id, index) where e.id = n.id`,
    [taken.map(({ id }) => id), taken.map(({ index }) => index)],
  )
  await insertRestored(tx, added)
  return { taken: taken.length, added: added.length }
}

async function insertRestored(
  tx: Tx,
  added: readonly { index: number; entry: Buffer; hash: Buffer; kind: string; subject: string }[],
): Promise<void> {
  const { rows } = await tx.query<{ subject: string }>('select subject from log_entry where subject = any($1)', [
    added.map(({ subject }) => subject),
  ])
  // Another entry about the same thing was written since: it keeps the name, both keep their bytes.
  const used = new Set(rows.map(({ subject }) => subject))
  const named = added.map((one) => {
    const subject = used.has(one.subject) ? `restored:${one.index}` : one.subject
    used.add(subject)
    return { ...one, subject }
  })
  await tx.query(
    `insert into log_entry (kind, subject, entry, leaf_hash, leaf_index)
     select * from unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[], $5::bigint[])`,
    [
      named.map(({ kind }) => kind),
      named.map(({ subject }) => subject),
      named.map(({ entry }) => entry),
      named.map(({ hash }) => hash),
      named.map(({ index }) => index),
    ],
  )
}

async function writeHeads(tx: Tx, { heads }: RepairPlan, nowMs: number): Promise<void> {
  for (const { size, root, note, cosignatures } of heads) {
    const signedAt = cosignatures[0]?.at ?? new Date(nowMs)
    await tx.query(
      'insert into log_checkpoint (size, root, note, signed_at) values ($1, $2, $3, $4) on conflict do nothing',
      [size, root, note, signedAt],
    )
    for (const { witness, line, at, vkey } of cosignatures)
      await tx.query(
        `insert into log_cosignature (size, witness, line, cosigned_at, vkey) values ($1, $2, $3, $4, $5)
         on conflict do nothing`,
        [size, witness, line, at, vkey],
      )
  }
}
