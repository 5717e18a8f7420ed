import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address } from './address.ts'
import { concatBytes, fromHex, type Hex, toHex } from './bytes.ts'
import { keccak256 } from './hash.ts'
import { accountOf, type PayoutLeaf, type PayoutPlace, payoutLeafHash, payoutTree } from './payout-tree.ts'

const hexOf = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => toHex(value) as Hex)
const place: fc.Arbitrary<PayoutPlace> = fc.record({
  chainId: fc.integer({ min: 1, max: 2 ** 31 }),
  contract: hexOf(20) as fc.Arbitrary<Address>,
  epoch: fc.bigInt({ min: 1n, max: 2n ** 64n }),
})
const leaf: fc.Arbitrary<PayoutLeaf> = fc.record({
  account: hexOf(32),
  wallet: hexOf(20) as fc.Arbitrary<Address>,
  micro: fc.bigInt({ min: 1n, max: 2n ** 96n }),
})
const leaves = fc.uniqueArray(leaf, {
  minLength: 1,
  maxLength: 17,
  selector: ({ account, wallet }) => account + wallet,
})

/** As the contract checks a claim: each pair is hashed with the smaller one first. */
const rootFrom = (start: Uint8Array, proof: readonly Hex[]): Hex =>
  proof.reduce<Hex>((node, sibling) => {
    const [first, second] = node < sibling ? [node, sibling] : [sibling, node]
    return toHex(keccak256(concatBytes(fromHex(first), fromHex(second))))
  }, toHex(start))

test('every leaf is proved by its own proof and by no other', () => {
  fc.assert(
    fc.property(place, leaves, (where, given) => {
      const tree = payoutTree(where, given)
      const root = toHex(tree.root)
      for (const [index, one] of tree.leaves.entries()) {
        const proof = tree.proofs[index] ?? []
        expect(rootFrom(payoutLeafHash(where, one), proof)).toBe(root)
        expect(proof.length).toBeLessThanOrEqual(Math.ceil(Math.log2(given.length)))
        expect(rootFrom(payoutLeafHash(where, { ...one, micro: one.micro + 1n }), proof)).not.toBe(root)
        expect(rootFrom(payoutLeafHash({ ...where, epoch: where.epoch + 1n }, one), proof)).not.toBe(root)
        expect(rootFrom(payoutLeafHash({ ...where, chainId: where.chainId + 1 }, one), proof)).not.toBe(root)
      }
    }),
    { numRuns: 40 },
  )
})

test('order of what is given changes nothing, and the pot is the sum of all', () => {
  fc.assert(
    fc.property(place, leaves, (where, given) => {
      const tree = payoutTree(where, given)
      expect(payoutTree(where, [...given].reverse())).toEqual(tree)
      expect(tree.potMicro).toBe(given.reduce((sum, { micro }) => sum + micro, 0n))
      const keys = tree.leaves.map(({ account, wallet }) => account + wallet)
      expect(keys).toEqual([...keys].sort())
      expect(new Set(keys).size).toBe(given.length)
    }),
    { numRuns: 40 },
  )
})

test('a node without a sibling goes up as it is, and nothing allotted is a root of zeros', () => {
  const where: PayoutPlace = { chainId: 8453, contract: `0x${'aa'.repeat(20)}`, epoch: 7n }
  const of = (name: string): PayoutLeaf => ({ account: accountOf(name), wallet: `0x${'bb'.repeat(20)}`, micro: 1n })
  const one = payoutTree(where, [of('a.test')])
  expect(toHex(one.root)).toBe(toHex(payoutLeafHash(where, of('a.test'))))
  expect(one.proofs).toEqual([[]])
  const three = payoutTree(where, ['a.test', 'b.test', 'c.test'].map(of))
  expect(three.proofs.map((proof) => proof.length)).toEqual([2, 2, 1])
  expect(payoutTree(where, [])).toEqual({ root: new Uint8Array(32), potMicro: 0n, leaves: [], proofs: [] })
})
