import { type Hash, sha256 } from '../hash.ts'

export type TreeHash<Digest extends Uint8Array> = {
  leafHash(entry: Uint8Array): Digest
  nodeHash(left: Uint8Array, right: Uint8Array): Digest
  /** Root of the empty tree. */
  emptyRoot: Digest
}

/** RFC 6962: leaves and inner nodes are hashed apart, so that neither can be mistaken for the other. */
export function treeHash<Digest extends Uint8Array>(hash: Hash<Digest>): TreeHash<Digest> {
  // Reused by every call: hashing is synchronous.
  const node = new Uint8Array(65)
  node[0] = 1
  return {
    leafHash: (entry) => {
      const leaf = new Uint8Array(1 + entry.length)
      leaf.set(entry, 1)
      return hash(leaf)
    },
    nodeHash: (left, right) => {
      if (left.length !== 32 || right.length !== 32) throw new RangeError('a node is made of two hashes')
      node.set(left, 1)
      node.set(right, 33)
      return hash(node)
    },
    emptyRoot: hash(new Uint8Array(0)),
  }
}

export const { leafHash, nodeHash, emptyRoot } = treeHash(sha256)

/** Entries `from` up to, not including, `until`; proofs are lists of such ranges, one for each hash. */
export type Range = { from: number; until: number }

/** The largest power of two below `size`: where RFC 6962 splits a tree. */
export function splitPoint(size: number): number {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}

/** Siblings on the way from the leaf up to the root. */
export function inclusionRanges(index: number, size: number): Range[] {
  if (!(index >= 0 && index < size)) throw new RangeError('no such leaf in this tree')
  const walk = (from: number, length: number): Range[] => {
    if (length === 1) return []
    const split = splitPoint(length)
    const middle = from + split
    return index < middle
      ? [...walk(from, split), { from: middle, until: from + length }]
      : [...walk(middle, length - split), { from, until: middle }]
  }
  return walk(0, size)
}

/** What shows that the tree of `size` begins with the tree of `oldSize`. */
export function consistencyRanges(oldSize: number, size: number): Range[] {
  if (!(oldSize >= 0 && oldSize <= size)) throw new RangeError('a tree does not shrink')
  if (oldSize === 0 || oldSize === size) return []
  const walk = (kept: number, from: number, length: number, whole: boolean): Range[] => {
    if (kept === length) return whole ? [] : [{ from, until: from + length }]
    const split = splitPoint(length)
    const middle = from + split
    return kept <= split
      ? [...walk(kept, from, split, whole), { from: middle, until: from + length }]
      : [...walk(kept - split, middle, length - split, false), { from, until: middle }]
  }
  return walk(oldSize, 0, size, true)
}

/** A complete subtree: 2^level leaves, the `index`-th of that level. */
export type Subtree = { level: number; index: number }

/** The complete subtrees a range consists of, largest first. The range starts where a tree of its size may start. */
export function subtreesOf({ from, until }: Range): Subtree[] {
  const list: Subtree[] = []
  let at = from
  while (at < until) {
    let level = 0
    let width = 1
    while (width * 2 <= until - at && at % (width * 2) === 0) {
      level += 1
      width *= 2
    }
    list.push({ level, index: at / width })
    at += width
  }
  return list
}

/** The hash of a range, given the hashes of complete subtrees. */
export function rangeHash<Digest extends Uint8Array>(
  range: Range,
  subtreeHash: (subtree: Subtree) => Digest,
  { nodeHash, emptyRoot }: Pick<TreeHash<Digest>, 'nodeHash' | 'emptyRoot'>,
): Digest {
  const parts = subtreesOf(range).map(subtreeHash)
  const last = parts.pop()
  return last === undefined ? emptyRoot : parts.reduceRight((right, left) => nodeHash(left, right), last)
}
