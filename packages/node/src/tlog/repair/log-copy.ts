import { tileIndexPath } from '@assay/protocol/log/tile-path'
import { hashBytes, tileWidth } from '../tiles.ts'
import { leafHash } from '../tree-hash.ts'
import { readFrom } from './log-files-adapter.ts'

/** A log as another holds it: the files of C2SP tlog-tiles below an address or in a folder. */
export type LogCopy = {
  name: string
  checkpoint(): Promise<string>
  /** Hashes of the leaves of a tile. */
  leafHashes(tile: number, width: number): Promise<Buffer[]>
  entries(tile: number, width: number): Promise<Buffer[]>
}

export function openLogCopy(place: string): LogCopy {
  const read = readFrom(place)
  const pathOf = (kind: string, tile: number, width: number) =>
    `tile/${kind}/${tileIndexPath(tile)}${width === tileWidth ? '' : `.p/${width}`}`
  return {
    name: place,
    checkpoint: async () => (await read('checkpoint')).toString('utf8'),
    leafHashes: async (tile, width) => {
      const bytes = await read(pathOf('0', tile, width))
      if (bytes.length !== width * hashBytes) throw new Error(`${place}: tile 0/${tile} has another length`)
      return Array.from({ length: width }, (_, n) => bytes.subarray(n * hashBytes, (n + 1) * hashBytes))
    },
    entries: async (tile, width) => {
      const entries = parseBundle(await read(pathOf('entries', tile, width)))
      if (entries?.length !== width) throw new Error(`${place}: entries ${tile} are not ${width} entries`)
      return entries
    },
  }
}

/** Entries with a big-endian uint16 length before each; undefined when the bytes do not come out even. */
export function parseBundle(bytes: Buffer): Buffer[] | undefined {
  const entries: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    if (at + 2 > bytes.length) return undefined
    const end = at + 2 + bytes.readUInt16BE(at)
    if (end > bytes.length) return undefined
    entries.push(bytes.subarray(at + 2, end))
    at = end
  }
  return entries
}

/**
 * The first leaf from which the copy and our own leaves may differ, at the start of a tile. Both are append-only, so that
 * a tile that is alike means that all before it are.
 */
export async function firstDifference(
  copy: Pick<LogCopy, 'leafHashes'>,
  size: number,
  own: (from: number, count: number) => Promise<Buffer[]>,
): Promise<number> {
  const alike = async (tile: number) => {
    const mine = await own(tile * tileWidth, tileWidth)
    if (mine.length < tileWidth) return false
    const theirs = await copy.leafHashes(tile, tileWidth)
    return theirs.every((hash, n) => hash.equals(mine[n] as Buffer))
  }
  let [low, high] = [0, Math.floor(size / tileWidth)]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (await alike(middle)) low = middle + 1
    else high = middle
  }
  return low * tileWidth
}

export type Leaf = { entry: Buffer; hash: Buffer }

/** Every entry of the copy from `from` on, below `until`. */
export async function leavesOf(copy: LogCopy, from: number, until: number): Promise<Map<number, Leaf>> {
  const leaves = new Map<number, Leaf>()
  for (let tile = Math.floor(from / tileWidth); tile * tileWidth < until; tile += 1) {
    const entries = await copy.entries(tile, Math.min(tileWidth, until - tile * tileWidth))
    for (const [n, entry] of entries.entries()) leaves.set(tile * tileWidth + n, { entry, hash: leafHash(entry) })
  }
  return leaves
}
