import { sameBytes } from '@assay/protocol/bytes'
import { consistencyRanges } from '@assay/protocol/log/merkle'
import { verifyConsistency } from '@assay/protocol/log/verify-proof'
import { hashRanges, tilesFor } from '../tiles.ts'
import { emptyRoot } from '../tree-hash.ts'
import type { TileSource } from './tile-source.ts'

export type Tree = { size: number; root: Uint8Array }

export type GrowthVerdict =
  | { kind: 'consistent' }
  /** The later tree begins with another one. `proof` leads from `prefixRoot` at the earlier size to the later root. */
  | { kind: 'fork'; prefixRoot: Uint8Array; proof: readonly Uint8Array[] }
  /** The tiles do not hash to the signed root: nothing is shown either way. */
  | { kind: 'unproven'; reason: string; missing?: boolean }

/** Whether the later tree is the earlier one with leaves added, from the tiles of the log. A few tiles are enough. */
export async function proveGrowth(source: TileSource, earlier: Tree, later: Tree): Promise<GrowthVerdict> {
  if (earlier.size === later.size)
    return sameBytes(earlier.root, later.root)
      ? { kind: 'consistent' }
      : { kind: 'fork', prefixRoot: later.root, proof: [] }
  const prefix = { from: 0, until: earlier.size }
  const ranges = consistencyRanges(earlier.size, later.size)
  if (earlier.size === 0) return rootOf(source, later, earlier)
  const tiles = await source.read(tilesFor([prefix, ...ranges]), later.size)
  const [prefixRoot, ...proof] = hashRanges([prefix, ...ranges], tiles) as [Buffer, ...Buffer[]]
  if (!verifyConsistency(earlier.size, later.size, proof, prefixRoot, later.root))
    return { kind: 'unproven', reason: `the tiles do not hash to the signed root of size ${later.size}` }
  return sameBytes(prefixRoot, earlier.root) ? { kind: 'consistent' } : { kind: 'fork', prefixRoot, proof }
}

/** From nothing: the whole tree has the signed root. */
async function rootOf(source: TileSource, later: Tree, earlier: Tree): Promise<GrowthVerdict> {
  const whole = { from: 0, until: later.size }
  const tiles = await source.read(tilesFor([whole]), later.size)
  const [root] = hashRanges([whole], tiles) as [Buffer]
  if (!sameBytes(root, later.root))
    return { kind: 'unproven', reason: `the tiles do not hash to the signed root of size ${later.size}` }
  return sameBytes(earlier.root, emptyRoot)
    ? { kind: 'consistent' }
    : { kind: 'fork', prefixRoot: emptyRoot, proof: [] }
}
