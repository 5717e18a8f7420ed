import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Sql } from '@assay/till/store/database'
import type { FeedId } from '../feeds/feed.ts'
import type { Snapshot } from './snapshot.ts'
import type { SnapshotInputs } from './snapshot-inputs.ts'
import { packLayout, unpackSnapshot } from './snapshot-layout.ts'

const pack = promisify(gzip)
const unpack = promisify<Buffer, Buffer>(gunzip)

/** Of each feed: the newest and the one the delay ago, for both tiers, and some that pages still point to. */
const keptMax = 8

/** Keeps a finished snapshot for other processes and for the next start. */
export async function keepSnapshot(
  sql: Sql,
  snapshot: Snapshot,
  inputs: SnapshotInputs,
  madeAtMs: number,
): Promise<void> {
  const { manifest, sha256 } = snapshot
  const held = await sql.query(`select from matrix_snapshot_bytes where sha256 = decode($1, 'hex')`, [sha256])
  if (held.rowCount === 0) {
    // Packed by other threads.
    const [bytes, layout] = await Promise.all([
      pack(snapshot.bytes, { level: 1 }),
      pack(packLayout(snapshot), { level: 1 }),
    ])
    await sql.query(
      `insert into matrix_snapshot_bytes (sha256, bytes, layout) values (decode($1, 'hex'), $2, $3) on conflict do nothing`,
      [sha256, bytes, layout],
    )
  }
  await sql.query(
    `insert into matrix_snapshot_kept (key, feed, rules, sha256, available_at, made_at)
     select decode($1, 'hex'), $2, decode($3, 'hex'), sha256, $5, $6 from matrix_snapshot_bytes where sha256 = decode($4, 'hex')
     on conflict do nothing`,
    [inputs.key, manifest.feed, inputs.rules, sha256, manifest.available_at, new Date(madeAtMs)],
  )
  await sql.query(
    `delete from matrix_snapshot_kept where key in (
       select key from matrix_snapshot_kept where feed = $1 order by made_at desc, key offset $2)`,
    [manifest.feed, keptMax],
  )
  await sql.query(
    'delete from matrix_snapshot_bytes b where not exists (select from matrix_snapshot_kept k where k.sha256 = b.sha256)',
  )
}

/** The snapshot made of exactly these inputs, where any process has made it before. */
export async function findKept(sql: Sql, key: string): Promise<Snapshot | undefined> {
  const { rows } = await sql.query<KeptRow>(`${keptSql} where k.key = decode($1, 'hex')`, [key])
  return rows[0] && restore(rows[0])
}

/** The newest by the same rules whose data were public by a moment: what to show while a newer one is being made. */
export async function findStaleSnapshot(
  sql: Sql,
  feed: FeedId,
  rules: string,
  availableByMs: number,
): Promise<Snapshot | undefined> {
  const { rows } = await sql.query<KeptRow>(
    `${keptSql} where k.feed = $1 and k.rules = decode($2, 'hex') and k.available_at <= $3
     order by k.available_at desc, k.made_at desc limit 1`,
    [feed, rules, new Date(availableByMs)],
  )
  return rows[0] && restore(rows[0])
}

type KeptRow = { sha256: Buffer; bytes: Buffer; layout: Buffer }

const keptSql =
  'select b.sha256, b.bytes, b.layout from matrix_snapshot_kept k join matrix_snapshot_bytes b on b.sha256 = k.sha256'

/** What does not have the hash it is kept under is not served. */
async function restore(row: KeptRow): Promise<Snapshot | undefined> {
  const [bytes, layout] = await Promise.all([unpack(row.bytes), unpack(row.layout)])
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return sha256 === row.sha256.toString('hex') ? unpackSnapshot(sha256, bytes, layout) : undefined
}
