import { nodeHash, type Range, rangeHash, type Subtree, subtreesOf } from './merkle.ts'

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
  return ranges.map((range) => rangeHash(range, (subtree) => subtreeFromTiles(subtree, tiles)))
}

function subtreeFromTiles(subtree: Subtree, tiles: Tiles): Buffer {
  const { level, tile, first, count } = placeOf(subtree)
  const hashes = tiles.get(tileKey({ level, tile }))
  if (!hashes || hashes.length < (first + count) * hashBytes)
    throw new Error(`tile ${level}/${tile} lacks hash ${first + count - 1}`)
  return interiorOf(hashes)[Math.log2(count)]?.[first / count] as Buffer
}

/** Every complete subtree inside a tile, by height. Tiles are not changed once made, so it is computed once for each. */
const interiors = new WeakMap<Buffer, Buffer[][]>()

function interiorOf(hashes: Buffer): Buffer[][] {
  const known = interiors.get(hashes)
  if (known) return known
  let row = Array.from({ length: hashes.length / hashBytes }, (_, i) =>
    hashes.subarray(i * hashBytes, (i + 1) * hashBytes),
  )
  const rows = [row]
  while (row.length > 1) {
    row = Array.from({ length: Math.floor(row.length / 2) }, (_, i) =>
      nodeHash(row[2 * i] as Buffer, row[2 * i + 1] as Buffer),
    )
    rows.push(row)
  }
  interiors.set(hashes, rows)
  return rows
}

/** The tiles at the right edge of a tree, which grow when leaves are added. */
export function edgeTiles(size: number): TileId[] {
  const ids: TileId[] = []
  for (let level = 0, hashes = size; level === 0 || hashes > 0; level += 1, hashes = Math.floor(hashes / tileWidth))
    if (hashes % tileWidth > 0) ids.push({ level, tile: Math.floor(hashes / tileWidth) })
  return ids
}

export type ChangedTile = TileId & { hashes: Buffer }

/** Adds leaves to a tree of which only the edge is known. Gives every tile that changed. */
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
      if (slice.length === room) full.push(interiorOf(hashes)[tileHeight]?.[0] as Buffer)
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
