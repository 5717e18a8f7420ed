import type { StatementLog } from '@assay/till/signing'
import type { Sql, Tx } from '@assay/till/store/database'
import { type ChangedTile, hashRanges, type TileId, tileKey, tilesFor } from './tiles.ts'
import { leafHash } from './tree-hash.ts'

export type LogDraft = {
  kind: string
  /** What the entry is about; a second entry about it is not written. */
  subject: string
  entry: Uint8Array
}

export const entryBytesMax = 65_535

/** Writes entries in the caller's transaction; they get their places in the tree after it has been committed. */
export async function appendToLog(sql: Sql, drafts: readonly LogDraft[]): Promise<void> {
  if (drafts.length === 0) return
  for (const { entry, subject } of drafts)
    if (entry.length === 0 || entry.length > entryBytesMax) throw new RangeError(`no entry of the log: ${subject}`)
  await sql.query({
    name: 'log_append',
    text: `insert into log_entry (kind, subject, entry, leaf_hash)
      select * from unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[]) on conflict do nothing`,
    values: [
      drafts.map(({ kind }) => kind),
      drafts.map(({ subject }) => subject),
      drafts.map(({ entry }) => entry),
      drafts.map(({ entry }) => leafHash(entry)),
    ],
  })
}

/** For the receipt of a sale: its holder can show that this entry was promised a place in this log. */
export function leafCommitment(origin: string, entry: string) {
  return { log: { origin, leaf_hash: leafHash(Buffer.from(entry)).toString('base64') } }
}

/** The name of the log: the one it was opened with first. */
export async function logOrigin(sql: Sql, wanted: string): Promise<string> {
  const { rows } = await sql.query<{ origin: string }>(
    'update log_tree set origin = coalesce(origin, $1) returning origin',
    [wanted],
  )
  return rows[0]?.origin ?? wanted
}

export type TreeState = {
  size: number
  /** Null before the log was opened under a name. */
  origin: string | null
  /** Set while somebody outside holds a head that this tree does not extend. */
  forkReason: string | null
  forkedAt: Date | null
  /** A restore was noticed then, and the tree was not compared with the outside since. */
  restoredAt: Date | null
  /** When one who sees every head was last asked and agreed, or the operator answered for it. */
  checkedAt: Date | null
}

const treeColumns = `size, origin, fork_reason as "forkReason", forked_at as "forkedAt", checked_at as "checkedAt", (
  select max(noticed_at) from restore_gap where noticed_at > coalesce(checked_at, '-infinity')) as "restoredAt"`

const toTree = (rows: (Omit<TreeState, 'size'> & { size: bigint })[]): TreeState => {
  const [row] = rows
  if (!row) throw new Error('the log has no tree')
  return { ...row, size: Number(row.size) }
}

/** Anyone who holds this lock gives places; the others wait until it is done. */
export async function lockTree(tx: Tx): Promise<TreeState> {
  const text = `select ${treeColumns} from log_tree for update`
  return toTree((await tx.query<TreeState & { size: bigint }>({ name: 'log_lock', text })).rows)
}

export async function readTree(sql: Sql): Promise<TreeState> {
  const text = `select ${treeColumns} from log_tree`
  return toTree((await sql.query<TreeState & { size: bigint }>({ name: 'log_tree', text })).rows)
}

/** What the till needs of the log for what it says about keys. */
export const statementLog: StatementLog = { position: readTree, append: appendToLog }

export type Waiting = { id: bigint; subject: string; leafHash: Buffer }

export async function readWaiting(tx: Tx, limit: number): Promise<Waiting[]> {
  const { rows } = await tx.query<Waiting>({
    name: 'log_waiting',
    text: `select id, subject, leaf_hash as "leafHash" from log_entry where leaf_index is null order by id limit $1`,
    values: [limit],
  })
  return rows
}

export async function placeLeaves(tx: Tx, ids: readonly bigint[], from: number): Promise<void> {
  await tx.query({
    name: 'log_place',
    text: `update log_entry e set leaf_index = $2::bigint + n.place - 1
      from unnest($1::bigint[]) with ordinality n (id, place) where e.id = n.id`,
    values: [ids, from],
  })
  await tx.query('update log_tree set size = $1', [from + ids.length])
}

export async function readTiles(sql: Sql, ids: readonly TileId[]): Promise<Map<string, Buffer>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql.query<{ level: number; tile: bigint; hashes: Buffer }>({
    name: 'log_tiles',
    text: `select t.level, t.tile, t.hashes from log_tile t
      join unnest($1::smallint[], $2::bigint[]) n (level, tile) on t.level = n.level and t.tile = n.tile`,
    values: [ids.map(({ level }) => level), ids.map(({ tile }) => tile)],
  })
  return new Map(rows.map((row) => [tileKey({ level: row.level, tile: Number(row.tile) }), row.hashes]))
}

/** The root of the tree as it was at that size, from what is stored now. */
export async function rootAt(sql: Sql, size: number): Promise<Buffer> {
  const range = { from: 0, until: size }
  const [root] = hashRanges([range], await readTiles(sql, tilesFor([range])))
  return root as Buffer
}

export async function writeTiles(tx: Tx, tiles: readonly ChangedTile[]): Promise<void> {
  await tx.query({
    name: 'log_write_tiles',
    text: `insert into log_tile (level, tile, hashes) select * from unnest($1::smallint[], $2::bigint[], $3::bytea[])
      on conflict (level, tile) do update set hashes = excluded.hashes`,
    values: [tiles.map(({ level }) => level), tiles.map(({ tile }) => tile), tiles.map(({ hashes }) => hashes)],
  })
}

export type StoredCheckpoint = { size: number; root: Buffer; note: string; signedAt: Date }

type CheckpointRow = { size: bigint; root: Buffer; note: string; signed_at: Date }
const toCheckpoint = (row: CheckpointRow | undefined): StoredCheckpoint | undefined =>
  row && { size: Number(row.size), root: row.root, note: row.note, signedAt: row.signed_at }

export async function writeCheckpoint(tx: Tx, checkpoint: StoredCheckpoint): Promise<void> {
  await tx.query('insert into log_checkpoint (size, root, note, signed_at) values ($1, $2, $3, $4)', [
    checkpoint.size,
    checkpoint.root,
    checkpoint.note,
    checkpoint.signedAt,
  ])
}

export async function newestCheckpoint(sql: Sql): Promise<StoredCheckpoint | undefined> {
  const { rows } = await sql.query<CheckpointRow>({
    name: 'log_newest_checkpoint',
    text: 'select size, root, note, signed_at from log_checkpoint order by size desc limit 1',
  })
  return toCheckpoint(rows[0])
}

/** The first tree head that covers the leaf: always the same one, however often it is asked for. */
export async function firstCheckpointOver(sql: Sql, leafIndex: number): Promise<StoredCheckpoint | undefined> {
  const { rows } = await sql.query<CheckpointRow>({
    name: 'log_first_checkpoint',
    text: 'select size, root, note, signed_at from log_checkpoint where size > $1 order by size limit 1',
    values: [leafIndex],
  })
  return toCheckpoint(rows[0])
}

export type Cosignature = {
  witness: string
  line: string
  /** Null on rows of before keys were kept. */
  vkey: string | null
  /** A node of the mesh that nobody configured. */
  peer: boolean
  at: Date
}
export type WitnessedCheckpoint = StoredCheckpoint & { cosignatures: readonly Cosignature[] }

/** The first and the newest tree heads over a leaf that witnesses have signed. */
export async function witnessedHeads(sql: Sql, leafIndex: number): Promise<WitnessedCheckpoint[]> {
  const { rows } = await sql.query<CheckpointRow & { lines: Omit<Cosignature, 'at'>[]; times: Date[] }>({
    name: 'log_witnessed_heads',
    text: `select c.size, c.root, c.note, c.signed_at,
        (select json_agg(json_build_object('witness', s.witness, 'line', s.line, 'vkey', s.vkey, 'peer', s.peer) order by s.witness)
          from log_cosignature s where s.size = c.size) as lines,
        array(select s.cosigned_at from log_cosignature s where s.size = c.size order by s.witness) as times
      from (
        (select size from log_cosignature where size > $1 order by size limit 100) union
        (select size from log_cosignature where size > $1 order by size desc limit 100)) near
      join log_checkpoint c on c.size = near.size`,
    values: [leafIndex],
  })
  return rows.map((row) => ({
    ...(toCheckpoint(row) as StoredCheckpoint),
    cosignatures: row.lines.map((line, n) => ({ ...line, at: row.times[n] as Date })),
  }))
}

export async function cosignaturesOf(sql: Sql, size: number): Promise<Cosignature[]> {
  const { rows } = await sql.query<Cosignature>(
    'select witness, line, vkey, peer, cosigned_at as at from log_cosignature where size = $1 order by witness',
    [size],
  )
  return rows
}

/** Keys of the peers that cosigned lately, those first that did so most often. */
export async function recentPeerKeys(sql: Sql): Promise<string[]> {
  const { rows } = await sql.query<{ vkey: string }>(
    `select vkey from (select vkey from log_cosignature where peer order by size desc limit 200) s
     where vkey is not null group by vkey order by count(*) desc, vkey`,
  )
  return rows.map(({ vkey }) => vkey)
}

export type PlacedEntry = { leafIndex: number; leafHash: Buffer }

/** Undefined while the entry has no place in the tree. */
export async function findPlace(sql: Sql, subject: string): Promise<PlacedEntry | undefined> {
  const { rows } = await sql.query<{ leaf_index: bigint; leaf_hash: Buffer }>({
    name: 'log_find_place',
    text: 'select leaf_index, leaf_hash from log_entry where subject = $1 and leaf_index is not null',
    values: [subject],
  })
  const [row] = rows
  return row && { leafIndex: Number(row.leaf_index), leafHash: row.leaf_hash }
}

export async function readEntries(sql: Sql, from: number, count: number): Promise<Buffer[]> {
  const { rows } = await sql.query<{ entry: Buffer }>(
    'select entry from log_entry where leaf_index >= $1 and leaf_index < $2 order by leaf_index',
    [from, from + count],
  )
  return rows.map(({ entry }) => entry)
}

/** By the clock of the database, which also says when others were asked. */
export async function databaseTime(sql: Sql): Promise<Date> {
  const { rows } = await sql.query<{ now: Date }>('select clock_timestamp() as now')
  return (rows[0] as { now: Date }).now
}
