import fc from 'fast-check'
import { concatBytes, sha256 } from 'viem'
import { expect, test } from 'vitest'
import { leafHash } from './merkle.ts'
import { verifyConsistency } from './verify-proof.ts'

type Head = { size: number; root: Uint8Array }
const grew = (earlier: Head, later: Head, proof: Leaves) =>
  verifyConsistency(earlier.size, later.size, proof, earlier.root, later.root)

type Leaves = readonly Uint8Array[]

/** The definitions of RFC 9162 as they are written there. */
const split = (count: number) => 2 ** Math.floor(Math.log2(count - 1))
const rootOf = (leaves: Leaves): Uint8Array =>
  leaves.length === 1
    ? (leaves[0] as Uint8Array)
    : sha256(
        concatBytes([
          new Uint8Array([1]),
          rootOf(leaves.slice(0, split(leaves.length))),
          rootOf(leaves.slice(split(leaves.length))),
        ]),
        'bytes',
      )

function proofOf(size: number, leaves: Leaves, whole = true): Uint8Array[] {
  if (size === leaves.length) return whole ? [] : [rootOf(leaves)]
  const half = split(leaves.length)
  if (size <= half) return [...proofOf(size, leaves.slice(0, half), whole), rootOf(leaves.slice(half))]
  return [...proofOf(size - half, leaves.slice(half), false), rootOf(leaves.slice(0, half))]
}

const leavesOf = (count: number) => Array.from({ length: count }, (_, n) => leafHash(new Uint8Array([n])))
const sizes = fc.tuple(fc.integer({ min: 1, max: 70 }), fc.nat(70)).map(([size, more]) => [size, size + more] as const)

test('a tree that only grew has a proof, and no changed proof, root or size passes for it', () => {
  fc.assert(
    fc.property(sizes, fc.nat(), ([size, grown], place) => {
      const leaves = leavesOf(grown)
      const earlier = { size, root: rootOf(leaves.slice(0, size)) }
      const later = { size: grown, root: rootOf(leaves) }
      const proof = proofOf(size, leaves)
      const other = leafHash(new Uint8Array([255]))
      expect(grew(earlier, later, proof)).toBe(true)
      expect(grew({ ...earlier, root: other }, later, proof)).toBe(false)
      expect(grew(earlier, { ...later, root: other }, proof)).toBe(false)
      expect(grew(earlier, later, [...proof, other])).toBe(false)
      const at = place % Math.max(proof.length, 1)
      if (proof.length > 0) {
        expect(grew(earlier, later, proof.with(at, other))).toBe(false)
        expect(grew(earlier, later, proof.slice(1))).toBe(false)
      }
      for (const wrong of [0, -1, 0.5, grown + 1, Number.NaN])
        expect(grew({ ...earlier, size: wrong }, later, proof)).toBe(false)
    }),
    { numRuns: 60 },
  )
})
