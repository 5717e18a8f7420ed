import { sameBytes } from '@assay/protocol/bytes'
import { consistencyRanges } from '@assay/protocol/log/merkle'
import { verifyConsistency } from '@assay/protocol/log/verify-proof'
import { edgeTiles, growTiles, hashBytes, hashRanges, tileKey, tilesFor, tileWidth, widthAt } from '../tiles.ts'
import { leafHash } from '../tree-hash.ts'
import { cutEntryBundle, parseEntryBundle } from './entry-bundle.ts'
import type { Tree } from './prove-growth.ts'
import { TileError, type TileSource, tilePath } from './tile-source.ts'
import type { KeptTiles, MonitorHttp } from './types.ts'

const batchTiles = 64
/** 256 entries of 65,535 bytes, each with its length. */
const bundleBytesMax = tileWidth * 65_537

export type Audit = { source: TileSource; kept: KeptTiles; head: Tree }

/**
 * Downloads the leaf hashes after `audited`, at most `tilesMax` tiles, and shows that they belong to the signed tree:
 * the tree made of them is the head itself, or the head is proven to continue it. Only then they are kept. Memory holds
 * one batch at a time.
 */
export async function auditLeaves(
  audit: Audit,
  audited: number,
  tilesMax: number,
  onAudited: (size: number) => void,
): Promise<void> {
  let size = audited
  for (let left = tilesMax; size < audit.head.size && left > 0; left -= batchTiles) {
    size = await auditBatch(audit, size, Math.min(left, batchTiles))
    onAudited(size)
  }
}

/** Whether the tiles that the next leaves are added to are still here. */
export async function hasEdge(kept: Pick<KeptTiles, 'readTile'>, size: number): Promise<boolean> {
  for (const id of edgeTiles(size))
    if (((await kept.readTile(id))?.length ?? 0) < widthAt(id, size) * hashBytes) return false
  return true
}

async function auditBatch({ source, kept, head }: Audit, size: number, tilesMax: number): Promise<number> {
  const edge = new Map<string, Buffer>()
  for (const id of edgeTiles(size)) {
    const known = (await kept.readTile(id))?.subarray(0, widthAt(id, size) * hashBytes)
    if (known) edge.set(tileKey(id), known)
  }
  const first = Math.floor(size / tileWidth)
  const until = Math.min(head.size, (first + tilesMax) * tileWidth)
  const leaves: Buffer[] = []
  for (let tile = first; tile * tileWidth < until; tile += 1) {
    const id = { level: 0, tile }
    const hashes = (await source.read([id], head.size)).get(tileKey(id)) ?? Buffer.alloc(0)
    const before = tile === first ? (edge.get(tileKey(id)) ?? Buffer.alloc(0)) : Buffer.alloc(0)
    if (!hashes.subarray(0, before.length).equals(before))
      throw new TileError('wrong', `tile ${tileKey(id)} no longer begins with the hashes it had before`)
    for (let at = before.length; at < hashes.length; at += hashBytes) leaves.push(hashes.subarray(at, at + hashBytes))
  }
  const changed = growTiles(size, edge, leaves)
  const tiles = new Map(edge)
  for (const tile of changed) tiles.set(tileKey(tile), tile.hashes)
  const [root] = hashRanges([{ from: 0, until }], tiles) as [Buffer]
  if (!(await belongsTo(source, { size: until, root }, head)))
    throw new TileError('wrong', `the leaf tiles up to ${until} do not hash to the signed root of size ${head.size}`)
  await kept.writeTiles(changed)
  return until
}

async function belongsTo(source: TileSource, part: Tree, head: Tree): Promise<boolean> {
  if (part.size === head.size) return sameBytes(part.root, head.root)
  const ranges = consistencyRanges(part.size, head.size)
  const proof = hashRanges(ranges, await source.read(tilesFor(ranges), head.size))
  return verifyConsistency(part.size, head.size, proof, part.root, head.root)
}

/** Downloads the entries of verified leaves and keeps those that hash to them. */
export async function auditEntries(
  { http, kept, prefix }: { http: MonitorHttp; kept: KeptTiles; prefix: string },
  entries: number,
  audited: number,
  tilesMax: number,
  onAudited: (size: number) => void,
): Promise<void> {
  let done = entries
  for (let left = tilesMax; done < audited && left > 0; left -= 1) {
    const tile = Math.floor(done / tileWidth)
    const width = widthAt({ level: 0, tile }, audited)
    const hashes = await kept.readTile({ level: 0, tile })
    const bundle = await fetchBundle(http, prefix, tile, width)
    const list = bundle && parseEntryBundle(bundle, width)
    if (!list || !hashes) throw new TileError('missing', `entry bundle ${tile} of width ${width} cannot be read`)
    for (const [index, entry] of list.entries())
      if (!leafHash(entry).equals(hashes.subarray(index * hashBytes, (index + 1) * hashBytes)))
        throw new TileError('wrong', `entry ${tile * tileWidth + index} does not hash to its leaf`)
    await kept.writeEntries(tile, width, bundle)
    done = tile * tileWidth + width
    onAudited(done)
  }
}

async function fetchBundle(http: MonitorHttp, prefix: string, tile: number, width: number) {
  for (const asked of width === tileWidth ? [width] : [width, tileWidth]) {
    const answer = await http.get(`${prefix}/${tilePath('entries', tile, asked)}`, bundleBytesMax)
    if (answer.ok && answer.status === 200 && asked === width) return answer.bytes
    if (answer.ok && answer.status === 200) return cutEntryBundle(answer.bytes, width)
  }
  return undefined
}
