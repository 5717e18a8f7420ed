import type { Range } from '@assay/protocol/log/merkle'
import type { Sql } from '@assay/till/store/database'
import { readTiles } from './store.ts'
import { hashBytes, hashRanges, type TileId, type Tiles, tileKey, tilesFor, tileWidth, widthAt } from './tiles.ts'

/** With what is computed inside them, 16 kB each: enough for all of a log of two million leaves. */
const fullMax = 8_192
/** The edges of the last tree heads: proofs of a second are for one and the same. */
const partialMax = 64

export type TileCache = {
  /** The hash of each range in a tree of that size; the tiles that are not known yet are read in one query. */
  hashesOf(ranges: readonly Range[], size: number): Promise<Buffer[]>
  /** The tiles of a batch that was just placed. */
  add(tiles: Tiles): void
  /** After a repair or a restore: tiles may be others. */
  reset(): void
}

/** Full tiles never change, and neither does a tile of a given width: the last used are kept. */
export function createTileCache(sql: Sql): TileCache {
  const full = lastUsed(fullMax)
  const partial = lastUsed(partialMax)
  const keep = (key: string, hashes: Buffer) => {
    const width = hashes.length / hashBytes
    if (width === tileWidth) full.set(key, hashes)
    else partial.set(`${key}.p/${width}`, hashes)
  }
  const find = (id: TileId, width: number) =>
    width === tileWidth ? full.get(tileKey(id)) : partial.get(`${tileKey(id)}.p/${width}`)
  return {
    reset: () => {
      full.clear()
      partial.clear()
    },
    add: (tiles) => {
      for (const [key, hashes] of tiles) keep(key, hashes)
    },
    hashesOf: async (ranges, size) => {
      const tiles = new Map<string, Buffer>()
      const missing: TileId[] = []
      for (const id of tilesFor(ranges)) {
        const known = find(id, widthAt(id, size))
        if (known) tiles.set(tileKey(id), known)
        else missing.push(id)
      }
      const read = await readTiles(sql, missing)
      for (const id of missing) {
        // The tree may have grown since: what is kept is the tile as it was at this size.
        const hashes = read.get(tileKey(id))?.subarray(0, widthAt(id, size) * hashBytes)
        if (hashes === undefined) throw new Error(`the log lacks tile ${tileKey(id)}`)
        tiles.set(tileKey(id), hashes)
        keep(tileKey(id), hashes)
      }
      return hashRanges(ranges, tiles)
    },
  }
}

function lastUsed(max: number) {
  const kept = new Map<string, Buffer>()
  const set = (key: string, value: Buffer) => {
    kept.delete(key)
    kept.set(key, value)
    if (kept.size > max) kept.delete(kept.keys().next().value as string)
  }
  return {
    set,
    clear: () => kept.clear(),
    get: (key: string): Buffer | undefined => {
      const value = kept.get(key)
      if (value) set(key, value)
      return value
    },
  }
}
