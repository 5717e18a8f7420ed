import { tileIndexPath } from '@assay/protocol/log/tile-path'
import { hashBytes, type TileId, type Tiles, tileKey, tileWidth, widthAt } from '../tiles.ts'
import type { KeptTiles, MonitorHttp } from './types.ts'

/** `missing`: it could not be had, now. `wrong`: what came is not the tile of the signed tree. */
export class TileError extends Error {
  override readonly name = 'TileError'
  readonly kind: 'missing' | 'wrong'

  constructor(kind: 'missing' | 'wrong', message: string) {
    super(message)
    this.kind = kind
  }
}

export type TileSource = {
  /** The tiles as they are in a tree of that size. Throws a TileError when one cannot be had. */
  read(ids: readonly TileId[], size: number): Promise<Tiles>
}

const tileBytesMax = tileWidth * hashBytes

export function tilePath(level: number | 'entries', tile: number, width: number): string {
  return `tile/${level}/${tileIndexPath(tile)}${width === tileWidth ? '' : `.p/${width}`}`
}

/** Tiles of a log over HTTP. `budget` bounds what one check requests. */
export function remoteTiles(http: MonitorHttp, prefix: string, budget: { requests: number }): TileSource {
  const cached = new Map<string, Buffer>()
  const fetchTile = async (id: TileId, size: number): Promise<Buffer> => {
    const width = widthAt(id, size)
    if (width === 0) throw new TileError('wrong', `tile ${tileKey(id)} is outside the tree`)
    const key = `${tileKey(id)}.${width}`
    const known = cached.get(key)
    if (known) return known
    const hashes = (await fetchWidth(id, width)) ?? (width < tileWidth ? await fetchWidth(id, tileWidth) : undefined)
    if (!hashes) throw new TileError('missing', `tile ${tileKey(id)} of width ${width} cannot be read`)
    const cut = hashes.subarray(0, width * hashBytes)
    if (cached.size < cachedMax) cached.set(key, cut)
    return cut
  }
  /** A partial tile may have been removed once the full one is there. */
  const fetchWidth = async (id: TileId, width: number): Promise<Buffer | undefined> => {
    if (budget.requests <= 0) throw new TileError('missing', 'too many requests for one check')
    budget.requests -= 1
    const answer = await http.get(`${prefix}/${tilePath(id.level, id.tile, width)}`, tileBytesMax)
    if (!answer.ok || answer.status !== 200) return undefined
    if (answer.bytes.length !== width * hashBytes)
      throw new TileError(
        'wrong',
        `tile ${tileKey(id)} has ${answer.bytes.length} bytes instead of ${width * hashBytes}`,
      )
    return answer.bytes
  }
  return {
    read: async (ids, size) => {
      const tiles = new Map<string, Buffer>()
      for (const id of ids) tiles.set(tileKey(id), await fetchTile(id, size))
      return tiles
    },
  }
}

const cachedMax = 256

/** Kept tiles first, as far as they were verified, and the log for the rest. */
export function keptTiles(kept: Pick<KeptTiles, 'readTile'>, audited: number, rest: TileSource): TileSource {
  return {
    read: async (ids, size) => {
      const tiles = new Map<string, Buffer>()
      const missing: TileId[] = []
      for (const id of ids) {
        const width = widthAt(id, size)
        const known = widthAt(id, audited) >= width ? await kept.readTile(id) : undefined
        if (known && known.length >= width * hashBytes) tiles.set(tileKey(id), known.subarray(0, width * hashBytes))
        else missing.push(id)
      }
      for (const [key, hashes] of await rest.read(missing, size)) tiles.set(key, hashes)
      return tiles
    },
  }
}
