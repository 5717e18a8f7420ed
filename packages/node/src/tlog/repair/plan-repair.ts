import { toHexDigits } from '@assay/protocol/bytes'
import type { Sql } from '@assay/till/store/database'
import { readOutsideHeads } from '../compare-with-witnesses.ts'
import { newestCheckpoint, readTiles, readTree } from '../store.ts'
import {
  type ChangedTile,
  edgeTiles,
  growTiles,
  hashBytes,
  hashRanges,
  type TileId,
  type Tiles,
  tileKey,
  widthAt,
} from '../tiles.ts'
import { firstDifference, type Leaf, type LogCopy, leavesOf } from './log-copy.ts'
import type { EvidenceLeaf } from './read-evidence.ts'
import { type HeadKeys, type TrustedHead, trustedHead } from './trusted-head.ts'

/** Why the log cannot be repaired with what was given. */
export class RepairImpossible extends Error {
  override readonly name = 'RepairImpossible'
}

export type RepairPlan = {
  origin: string
  /** The tree this was planned for. */
  ownSize: number
  ownRoot: Buffer | undefined
  /** Leaves before this stay as they are. */
  from: number
  leaves: Leaf[]
  head: TrustedHead
  /** Other heads over these leaves, each verified. */
  heads: TrustedHead[]
  tiles: ChangedTile[]
}

export type RepairSources = { copies: readonly LogCopy[]; evidence: readonly EvidenceLeaf[]; keys: HeadKeys }

/** Finds every leaf of the largest head that can be proven, and checks them against its root. Writes nothing. */
export async function planRepair(sql: Sql, sources: RepairSources): Promise<RepairPlan | undefined> {
  const { size: ownSize, origin } = await readTree(sql)
  if (origin === null) throw new RepairImpossible('this log was never opened')
  const outside = await readOutsideHeads(sql)
  const heads = await knownHeads(sources, outside, origin)
  const [head] = heads
  if (!head) throw new RepairImpossible('no source shows a tree head that this log or one of its witnesses signed')
  const needed = Math.max(...outside.filter(({ agrees }) => !agrees).map(({ size }) => size), 0)
  if (head.size < needed)
    throw new RepairImpossible(`the sources reach size ${head.size}; a head of size ${needed} is known outside`)
  const ownLeaves = await readLeaves(sql, head.size)
  for (const fill of await fillings(sources, ownLeaves, head.size)) {
    const plan = await fitting(sql, { ownSize, origin, head, heads, ownLeaves, fill })
    if (plan === 'alike') return undefined
    if (plan) return { ...plan, ownRoot: (await newestCheckpoint(sql))?.root }
  }
  throw new RepairImpossible(`the leaves of the sources do not have the root of the head of size ${head.size}`)
}

type KnownHead = TrustedHead & {
  /** Held by a witness, an anchor or a peer: the log must extend it. One that only a copy shows may be of a fork. */
  binding: boolean
}

/** Those that bind first, and of each kind the largest. */
async function knownHeads(
  { copies, evidence, keys }: RepairSources,
  outside: readonly { note: string | null }[],
  origin: string,
): Promise<KnownHead[]> {
  const shown = await Promise.all(copies.map((copy) => copy.checkpoint()))
  const notes = [
    ...[...shown, ...evidence.map(({ checkpoint }) => checkpoint)].map((note) => ({ note, held: false })),
    ...outside.flatMap(({ note }) => (note === null ? [] : [{ note, held: true }])),
  ]
  const heads = new Map<string, KnownHead>()
  for (const { note, held } of notes) {
    const head = await trustedHead(note, origin, keys)
    if (!head) continue
    const key = `${head.size} ${toHexDigits(head.root)}`
    const known = heads.get(key)
    const best = known && known.cosignatures.length >= head.cosignatures.length ? known : head
    heads.set(key, { ...best, binding: held || known?.binding === true || best.cosignatures.length > 0 })
  }
  return [...heads.values()].sort((a, b) => Number(b.binding) - Number(a.binding) || b.size - a.size)
}

async function readLeaves(sql: Sql, until: number): Promise<Buffer[]> {
  const { rows } = await sql.query<{ leaf_hash: Buffer }>(
    'select leaf_hash from log_entry where leaf_index < $1 order by leaf_index',
    [until],
  )
  return rows.map(({ leaf_hash }) => leaf_hash)
}

type Filling = ReadonlyMap<number, Leaf>

/** Leaves by place. Sources may contradict each other, so each of them is tried as the one that is believed first. */
async function fillings({ copies, evidence }: RepairSources, own: readonly Buffer[], size: number): Promise<Filling[]> {
  const ownSlice = async (from: number, count: number) => own.slice(from, from + count)
  const found = await Promise.all(
    copies.map(async (copy) => {
      const [, sizeText = '0'] = (await copy.checkpoint()).split('\n')
      const until = Math.min(size, Number(sizeText))
      return leavesOf(copy, await firstDifference(copy, until, ownSlice), until)
    }),
  )
  const kept = new Map<number, Leaf>(evidence.filter(({ index }) => index < size).map((leaf) => [leaf.index, leaf]))
  const all = [...found, kept]
  return all.map((_, first) => {
    const ordered = [...all.slice(first), ...all.slice(0, first)].reverse()
    return new Map(ordered.flatMap((leaves) => [...leaves]))
  })
}

type Fitting = {
  ownSize: number
  origin: string
  head: TrustedHead
  heads: readonly KnownHead[]
  ownLeaves: readonly Buffer[]
  fill: Filling
}

async function fitting(sql: Sql, facts: Fitting): Promise<Omit<RepairPlan, 'ownRoot'> | 'alike' | undefined> {
  const { ownLeaves, fill, head, heads, origin, ownSize } = facts
  const hashes = Array.from({ length: head.size }, (_, index) => fill.get(index)?.hash ?? ownLeaves[index])
  const missing = hashes.indexOf(undefined)
  if (missing >= 0) throw new RepairImpossible(`no source has leaf ${missing} of ${head.size}`)
  const leaves = hashes as Buffer[]
  const differs = leaves.findIndex((hash, index) => ownLeaves[index] === undefined || !hash.equals(ownLeaves[index]))
  const from = differs < 0 ? head.size : differs
  const edge = await trimmedEdge(sql, from)
  const added = leaves.slice(from)
  const changed = growTiles(from, edge, added)
  const tiles = new Map([...edge, ...changed.map((tile) => [tileKey(tile), tile.hashes] as const)])
  const [root] = hashRanges([{ from: 0, until: head.size }], tiles) as [Buffer]
  if (!root.equals(head.root)) return undefined
  if (from === head.size && ownSize >= head.size) return 'alike'
  return {
    origin,
    ownSize,
    from,
    head,
    heads: provenHeads(heads, leaves),
    leaves: added.map((hash, n) => fill.get(from + n) ?? { hash, entry: Buffer.alloc(0) }),
    // Of a tile at the edge that grew, only as it is after.
    tiles: [...changed, ...edgeTiles(from).flatMap((id) => unchangedEdge(id, edge, changed))],
  }
}

function unchangedEdge(id: TileId, edge: Tiles, changed: readonly ChangedTile[]): ChangedTile[] {
  const hashes = edge.get(tileKey(id))
  return hashes && !changed.some((tile) => tileKey(tile) === tileKey(id)) ? [{ ...id, hashes }] : []
}

/** The edge of our tree as it was at that size. */
async function trimmedEdge(sql: Sql, size: number): Promise<Map<string, Buffer>> {
  const ids = edgeTiles(size)
  const stored = await readTiles(sql, ids)
  return new Map(
    ids.map((id) => {
      const hashes = stored.get(tileKey(id))
      if (!hashes) throw new RepairImpossible(`the database lacks tile ${tileKey(id)}`)
      return [tileKey(id), Buffer.from(hashes.subarray(0, widthAt(id, size) * hashBytes))]
    }),
  )
}

/** The heads of this history. Two that bind and contradict each other cannot both be extended. */
function provenHeads(heads: readonly KnownHead[], leaves: readonly Buffer[]): TrustedHead[] {
  const tiles = new Map(growTiles(0, new Map(), leaves).map((tile) => [tileKey(tile), tile.hashes]))
  return heads.filter((head) => {
    if (head.size > leaves.length) return false
    const [root] = hashRanges([{ from: 0, until: head.size }], tiles) as [Buffer]
    if (root.equals(head.root)) return true
    if (!head.binding) return false
    throw new RepairImpossible(
      `two heads that others hold contradict each other at size ${head.size}: nothing extends both. Start a new origin.`,
    )
  })
}
