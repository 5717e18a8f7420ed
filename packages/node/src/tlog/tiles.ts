import { type Range, rangeHash, type Subtree, subtreesOf } from '@assay/protocol/log/merkle'
import { emptyRoot, nodeHash } from './tree-hash.ts'

/** C2SP tlog-tiles: 256 hashes a tile, each the root of a full tile of the level below. */
export const tileHeight = 8
export const tileWidth = 256
export const hashBytes = 32

export type TileId = { level: number; tile: number }

export const tileKey = ({ level, tile }: TileId): string => `${level}/${tile}`

/** Hashes of tiles, joined; a tile that is not full has fewer. */
export type Tiles = ReadonlyMap<string, Buffer>

/** Where the hash of a complete subtree is found, or from which hashes of one tile it is made. */
function placeOf({ level, index }: Subtree): TileId & { first: number; count: number } {
  const count = 2 ** (level % tileHeight)
  const start = index * count
  const tile = Math.floor(start / tileWidth)
  return { level: Math.floor(level / tileHeight), tile, first: start - tile * tileWidth, count }
}

/** The tiles needed for a list of ranges, each once. */
export function tilesFor(ranges: readonly Range[]): TileId[] {
  const needed = new Map<string, TileId>()
  for (const subtree of ranges.flatMap(subtreesOf)) {
    const { level, tile } = placeOf(subtree)
    needed.set(tileKey({ level, tile }), { level, tile })
  }
  return [...needed.values()]
}

/** The hash of each range, computed from tiles. Throws where a tile is missing or too short. */
export function hashRanges(ranges: readonly Range[], tiles: Tiles): Buffer[] {
  return ranges.map((range) => rangeHash(range, (subtree) => subtreeFromTiles(subtree, tiles), { nodeHash, emptyRoot }))
}

function subtreeFromTiles(subtree: Subtree, tiles: Tiles): Buffer {
  const { level, tile, first, count } = placeOf(subtree)
  const hashes = tiles.get(tileKey({ level, tile }))
  if (!hashes || hashes.length < (first + count) * hashBytes)
    throw new Error(`tile ${level}/${tile} lacks hash ${first + count - 1}`)
  return insideTile(hashes, Math.log2(count), first / count)
}

/** Every complete subtree inside a tile, row upon row. Tiles are not changed once made, so it is computed once for each. */
const interiors = new WeakMap<Buffer, Buffer>()

/** The `index`-th subtree of 2^height hashes in a tile. */
function insideTile(hashes: Buffer, height: number, index: number): Buffer {
  if (height === 0) return hashes.subarray(index * hashBytes, (index + 1) * hashBytes)
  const width = hashes.length / hashBytes
  let row = 0
  for (let below = 1; below < height; below += 1) row += width >> below
  const at = (row + index) * hashBytes
  return interiorOf(hashes).subarray(at, at + hashBytes)
}

function interiorOf(hashes: Buffer): Buffer {
  const known = interiors.get(hashes)
  if (known) return known
  const interior = Buffer.alloc(hashes.length)
  let below = hashes
  let filled = 0
  for (let width = (hashes.length / hashBytes) >> 1; width > 0; width >>= 1) {
    const row = interior.subarray(filled, filled + width * hashBytes)
    for (let at = 0; at < row.length; at += hashBytes)
      row.set(
        nodeHash(
          below.subarray(2 * at, 2 * at + hashBytes),
          below.subarray(2 * at + hashBytes, 2 * at + 2 * hashBytes),
        ),
        at,
      )
    below = row
    filled += row.length
  }
  interiors.set(hashes, interior)
  return interior
}

/** The tiles at the right edge of a tree, which grow when leaves are added. */
export function edgeTiles(size: number): TileId[] {
  const ids: TileId[] = []
  for (let level = 0, hashes = size; level === 0 || hashes > 0; level += 1, hashes = Math.floor(hashes / tileWidth))
    if (hashes % tileWidth > 0) ids.push({ level, tile: Math.floor(hashes / tileWidth) })
  return ids
}

export type ChangedTile = TileId & { hashes: Buffer }

/** Adds leaves to a tree of which only the edge is known. Returns every tile that changed. */
export function growTiles(size: number, edge: Tiles, leaves: readonly Buffer[]): ChangedTile[] {
  const changed: ChangedTile[] = []
  let added: readonly Buffer[] = leaves
  let before = size
  for (let level = 0; added.length > 0; level += 1) {
    const full: Buffer[] = []
    let position = before
    for (let taken = 0; taken < added.length; ) {
      const tile = Math.floor(position / tileWidth)
      const room = tileWidth - (position % tileWidth)
      const known = position % tileWidth === 0 ? undefined : edge.get(tileKey({ level, tile }))
      if (position % tileWidth !== 0 && known?.length !== (position % tileWidth) * hashBytes)
        throw new Error(`the edge of the tree lacks tile ${level}/${tile}`)
      const slice = added.slice(taken, taken + room)
      const hashes = Buffer.concat([...(known === undefined ? [] : [known]), ...slice])
      changed.push({ level, tile, hashes })
      if (slice.length === room) full.push(insideTile(hashes, tileHeight, 0))
      taken += slice.length
      position += slice.length
    }
    before = Math.floor(before / tileWidth)
    added = full
  }
  return changed
}

/** How many hashes the tile has in a tree of that size; 256 when it is full. */
export function widthAt({ level, tile }: TileId, size: number): number {
  const hashes = Math.floor(size / tileWidth ** level)
  return Math.max(0, Math.min(tileWidth, hashes - tile * tileWidth))
}
