import fc from 'fast-check'
import { keccak256, toRlp } from 'viem'
import { expect, test } from 'vitest'
import { proveTrieValue } from './merkle-proof.ts'
import { proofCheck } from './verify-proof.ts'

type Hex = `0x${string}`

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(hexOf)

test('a leaf at the root proves its value and nothing else', () => {
  fc.assert(
    fc.property(
      bytes(32),
      bytes(32),
      fc.uint8Array({ minLength: 1, maxLength: 32 }).map(hexOf),
      (key, other, value) => {
        // An even path of the whole hash: flag nibble 2 and a filling zero.
        const leaf = toRlp([`0x20${keccak256(key).slice(2)}`, value])
        const root = keccak256(leaf)
        expect(proveTrieValue(root, key, [leaf])).toBe(value)
        if (other !== key) expect(proveTrieValue(root, other, [leaf])).toBe(null)
        expect(proveTrieValue(other, key, [leaf])).toBe(undefined)
        expect(proveTrieValue(root, key, [])).toBe(undefined)
      },
    ),
  )
})

test('the empty trie holds nothing', () => {
  expect(proveTrieValue(keccak256('0x80'), '0x01', [])).toBe(null)
})

test('nodes of any shape prove nothing or something, and never fail', () => {
  const node = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      fc.uint8Array({ maxLength: 40 }).map(hexOf),
      fc.array(tie('node'), { maxLength: 17 }),
    ),
  })).node
  fc.assert(
    fc.property(node, bytes(4), (shape, key) => {
      const encoded = toRlp(shape as Hex)
      proveTrieValue(keccak256(encoded), key, [encoded])
    }),
  )
})

test('a report with a proof of any shape is refused, not fallen over', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (proof, block) => {
      const check = proofCheck({ proof, block, address: `0x${'1'.repeat(40)}` })
      if (proof !== undefined) expect(check?.status).toBe('failed')
    }),
  )
})
