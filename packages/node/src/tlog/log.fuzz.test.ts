import { anyText } from '@assay/protocol/any-text.fixture'
import { checkpointText, cosignedAt, parseCheckpoint } from '@assay/protocol/log/checkpoint'
import { consistencyRanges, inclusionRanges, splitPoint } from '@assay/protocol/log/merkle'
import { isSignedBy, noteKey, parseNoteKey, signatureTypes } from '@assay/protocol/log/signed-note'
import { verifyConsistency, verifyInclusion } from '@assay/protocol/log/verify-proof'
import { privateKeyFromSeed } from '@assay/till/signing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cosign, signNote } from './sign-note.ts'
import { edgeTiles, growTiles, hashRanges, type Tiles, tileKey } from './tiles.ts'
import { emptyRoot, leafHash, nodeHash } from './tree-hash.ts'
import { addCheckpointBody, parseAddCheckpoint } from './witness.ts'

const vectorLeaves = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
]
const vectorRoots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

/** The definition of RFC 6962, word for word: what the fast way is compared with. */
function plainRoot(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves
  if (only === undefined) return emptyRoot
  if (leaves.length === 1) return only
  const split = splitPoint(leaves.length)
  return nodeHash(plainRoot(leaves.slice(0, split)), plainRoot(leaves.slice(split)))
}

/** Tiles of a log that grew by the given steps. */
function grow(leaves: readonly Buffer[], steps: readonly number[]): Map<string, Buffer> {
  const tiles = new Map<string, Buffer>()
  let size = 0
  const add = (count: number) => {
    const edge = new Map(edgeTiles(size).map((id) => [tileKey(id), tiles.get(tileKey(id)) as Buffer]))
    for (const tile of growTiles(size, edge, leaves.slice(size, size + count))) tiles.set(tileKey(tile), tile.hashes)
    size = Math.min(leaves.length, size + count)
  }
  for (const step of steps) if (size < leaves.length) add(step)
  while (size < leaves.length) add(997)
  return tiles
}

const root = (size: number, tiles: Tiles) => hashRanges([{ from: 0, until: size }], tiles)[0] as Buffer
const manyLeaves = Array.from({ length: 1_000 }, (_, index) => leafHash(Buffer.from(`entry ${index}`)))

describe('the tree', () => {
  test('has the roots of the reference vectors', () => {
    const leaves = vectorLeaves.map((hex) => leafHash(Buffer.from(hex, 'hex')))
    const tiles = grow(leaves, [1, 1, 1, 1, 1, 1, 1, 1])
    for (const [size, expected] of vectorRoots.entries()) expect(root(size, tiles).toString('hex')).toBe(expected)
  })

  test('proves every leaf of every size to 1,000, and no other leaf', () => {
    const tiles = grow(manyLeaves, [])
    const wrong = leafHash(Buffer.from('never logged'))
    for (let size = 1; size <= 1_000; size += 1) {
      const head = root(size, tiles)
      // All leaves of small trees; of large ones the edges and the middle, or this would be half a million proofs.
      const step = size <= 40 ? 1 : Math.ceil(size / 2)
      for (const index of new Set([...range(0, size, step), size - 1])) {
        const path = hashRanges(inclusionRanges(index, size), tiles)
        expect(verifyInclusion(manyLeaves[index] as Buffer, index, size, path, head), `${index} of ${size}`).toBe(true)
        expect(verifyInclusion(wrong, index, size, path, head)).toBe(false)
        if (size > 1)
          expect(verifyInclusion(manyLeaves[index] as Buffer, (index + 1) % size, size, path, head)).toBe(false)
      }
    }
  })

  test('proves that every size to 1,000 continues earlier ones', () => {
    const tiles = grow(manyLeaves, [255, 1, 1, 300])
    const heads = Array.from({ length: 1_001 }, (_, size) => root(size, tiles))
    for (let size = 1; size <= 1_000; size += 1) {
      const step = size <= 40 ? 1 : Math.ceil(size / 2)
      for (const old of new Set([...range(0, size, step), size - 1, size])) {
        const proof = hashRanges(consistencyRanges(old, size), tiles)
        const [before, after] = [heads[old] as Buffer, heads[size] as Buffer]
        expect(verifyConsistency(old, size, proof, before, after), `${old} to ${size}`).toBe(true)
        if (old > 0 && old < size) {
          expect(verifyConsistency(old, size, proof, leafHash(before), after)).toBe(false)
          expect(verifyConsistency(old, size, proof, before, leafHash(after))).toBe(false)
        }
      }
    }
  })

  test('is the same however the leaves came in', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.array(fc.integer({ min: 1, max: 400 })), (size, steps) => {
        const leaves = manyLeaves.slice(0, size)
        const tiles = grow(leaves, steps)
        expect(root(size, tiles)).toEqual(plainRoot(leaves))
        expect([...tiles.entries()].sort()).toEqual([...grow(leaves, [1_000]).entries()].sort())
      }),
      { numRuns: 20 },
    )
  })

  test('refuses altered proofs', () => {
    const tiles = grow(manyLeaves, [])
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 1_000 }), fc.nat(), fc.nat(), fc.nat(), (size, at, where, bit) => {
        const index = at % size
        const path = hashRanges(inclusionRanges(index, size), tiles).map((hash) => Buffer.from(hash))
        const altered = path[where % path.length] as Buffer
        altered[bit % 32] = (altered[bit % 32] as number) ^ (1 << (bit % 8))
        const leaf = manyLeaves[index] as Buffer
        expect(verifyInclusion(leaf, index, size, path, root(size, tiles))).toBe(false)
        expect(verifyInclusion(leaf, index, size, path.slice(1), root(size, tiles))).toBe(false)
      }),
    )
  })
})

function range(from: number, until: number, step: number): number[] {
  return Array.from({ length: Math.ceil((until - from) / step) }, (_, index) => from + index * step)
}

describe('signed notes', () => {
  test('survive being written and read, with cosignatures', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.nat(),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.nat({ max: 4_000_000_000 }),
        async (seed, size, hash, seconds) => {
          const secret = privateKeyFromSeed(Buffer.from(seed).toString('base64url'))
          const publicKey = secret.x
          const key = noteKey('log.example/x', signatureTypes.ed25519, publicKey)
          const witness = noteKey('witness.example', signatureTypes.cosignature, publicKey)
          const checkpoint = { origin: 'log.example/x', size, root: Buffer.from(hash) }
          const text = checkpointText(checkpoint)
          const note = signNote(text, key, secret.privateKey) + cosign(text, witness, secret.privateKey, seconds)
          const parsed = parseCheckpoint(note)
          if (!parsed) throw new Error('not read')
          expect({ ...parsed, root: Buffer.from(parsed.root) }).toMatchObject(checkpoint)
          expect(await isSignedBy(parsed, key)).toBe(true)
          const [own, theirs] = parsed.signatures
          expect(theirs && (await cosignedAt(text, theirs, witness))).toBe(seconds)
          expect(theirs && (await cosignedAt(`${text}x\n`, theirs, witness))).toBeUndefined()
          expect(own && (await cosignedAt(text, own, witness))).toBeUndefined()
          expect(parseNoteKey(key.vkey)?.x).toBe(publicKey)
          const body = addCheckpointBody(3, [hash], note)
          expect(parseAddCheckpoint(body)).toMatchObject({ oldSize: 3, proof: [hash], head: { size, root: hash } })
        },
      ),
      { numRuns: 30 },
    )
  })

  test('never throw on what is no request', () => {
    fc.assert(fc.property(anyText(), (text) => void parseAddCheckpoint(`old 1\n${text}\n\n${text}\n`)))
  })
})
