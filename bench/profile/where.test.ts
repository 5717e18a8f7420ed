import { expect, test } from 'vitest'
import { placeOf, sharesOf } from './where.ts'

const frame = (functionName: string, url: string, selfMicros = 1) => ({ functionName, url, selfMicros })

test.each([
  ['(garbage collector)', '', 'garbage collection'],
  ['parse', 'file:///x/node_modules/pg-protocol/dist/parser.js', 'database driver (pg)'],
  ['hash', 'file:///x/node_modules/viem/_esm/hash.js', 'viem'],
  ['answer', 'file:///x/packages/node/src/http/answer.ts', 'ours: node/http'],
  ['claim', 'file:///x/packages/till/src/gate/claim.ts', 'ours: till/gate'],
  ['signOneShot', 'node:internal/crypto/sig', 'node:crypto: ed25519, SHA-256'],
  ['run', '', 'node:crypto: ed25519, SHA-256'],
  ['Secp256k1Addon', '', 'secp256k1 (native)'],
  ['writev', '', 'writes to sockets'],
  ['wasm-function[12]', 'wasm://wasm/0001', 'secp256k1 and Keccak (WASM)'],
])('%s of %s is part of: %s', (functionName, url, place) => {
  expect(placeOf(frame(functionName, url))).toBe(place)
})

test('shares are of the time worked, not of the time waited, and add up to all of it', () => {
  const frames = [
    frame('(idle)', '', 900),
    frame('writev', '', 60),
    frame('a', 'file:///x/packages/node/src/http/a.ts', 10),
    frame('b', 'file:///x/packages/node/src/http/b.ts', 20),
    frame('c', 'node:events', 10),
  ]
  const shares = sharesOf(frames, 2)
  expect(shares).toEqual([
    { what: 'writes to sockets', share: 0.6, most: 'writev' },
    { what: 'ours: node/http', share: 0.3, most: 'b' },
    { what: 'everything else', share: 0.1, most: '' },
  ])
})
