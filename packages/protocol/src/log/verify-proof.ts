import { sameBytes } from '../bytes.ts'
import { emptyRoot, nodeHash } from './merkle.ts'

/** RFC 9162, 2.1.3.2: does this path lead from the leaf to the root? Independent of how proofs are made. */
export function verifyInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return false
  let [at, last] = [index, size - 1]
  let hash: Uint8Array = leaf
  for (const sibling of path) {
    if (last === 0 || sibling.length !== 32) return false
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash)
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else hash = nodeHash(hash, sibling)
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 && sameBytes(hash, root)
}

/** RFC 9162, 2.1.4.2: is the newer tree the older one with leaves added? */
export function verifyConsistency(
  oldSize: number,
  size: number,
  path: readonly Uint8Array[],
  oldRoot: Uint8Array,
  root: Uint8Array,
): boolean {
  if (!Number.isSafeInteger(oldSize) || !Number.isSafeInteger(size) || oldSize < 0 || oldSize > size) return false
  if (oldSize === size) return path.length === 0 && sameBytes(oldRoot, root)
  if (oldSize === 0) return path.length === 0 && sameBytes(oldRoot, emptyRoot)
  const proof = isPowerOfTwo(oldSize) ? [oldRoot, ...path] : [...path]
  const first = proof.shift()
  if (first === undefined || [...proof, first].some((hash) => hash.length !== 32)) return false
  let [at, last] = [oldSize - 1, size - 1]
  while (at % 2 === 1) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  let older: Uint8Array = first
  let newer: Uint8Array = first
  for (const hash of proof) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      older = nodeHash(hash, older)
      newer = nodeHash(hash, newer)
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else newer = nodeHash(newer, hash)
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 && sameBytes(older, oldRoot) && sameBytes(newer, root)
}

function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(Math.log2(value))
}
