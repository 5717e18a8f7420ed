import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import fc from 'fast-check'
import { encodeAbiParameters, encodeFunctionData, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { cursorText, parseCursor } from '../changes/control-changes.ts'
import { decodePolicyId } from '../policy-id.ts'
import { decodeControlEvent } from './decode-events.ts'
import { decodePolicyEvent } from './decode-policy-events.ts'
import { decodeMulticall, decodeMulticallRequest, encodeMulticall } from './multicall.ts'
import { parseBlock } from './pin-block.ts'
import { parseLog } from './read-logs.ts'
import { readAddress, readBool, readText, readUintArray, readWord } from './words.ts'

const hex = (bytes: { min: number; max: number }) =>
  fc
    .uint8Array({ minLength: bytes.min, maxLength: bytes.max })
    .map((raw): Hex => `0x${Buffer.from(raw).toString('hex')}`)
const address = hex({ min: 20, max: 20 }) as fc.Arbitrary<Address>
const multicallAbi = parseAbi([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) returns ((bool success, bytes returnData)[])',
])

test('a multicall is encoded as viem encodes it, and taken apart again', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ to: address, data: hex({ min: 4, max: 80 }) }), { maxLength: 6 }), (views) => {
      const encoded = encodeMulticall(views)
      const calls = views.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }))
      expect(encoded).toBe(encodeFunctionData({ abi: multicallAbi, args: [calls] }))
      expect(decodeMulticallRequest(encoded)).toEqual(views)
    }),
  )
})

test('results are read as viem wrote them, and any other number of them is no answer', () => {
  const shape = [
    {
      type: 'tuple[]',
      components: [
        { type: 'bool', name: 'success' },
        { type: 'bytes', name: 'data' },
      ],
    },
  ] as const
  fc.assert(
    fc.property(
      fc.array(fc.record({ success: fc.boolean(), data: hex({ min: 0, max: 70 }) }), { maxLength: 6 }),
      (results) => {
        const encoded = encodeAbiParameters(shape, [results])
        expect(decodeMulticall(encoded, results.length)).toEqual(results)
        expect(decodeMulticall(encoded, results.length + 1)).toBeUndefined()
      },
    ),
  )
})

test('no bytes crash a parser, and only exact words are values', () => {
  fc.assert(
    fc.property(fc.oneof(hex({ min: 0, max: 200 }), fc.string() as fc.Arbitrary<Hex>), (data) => {
      for (const read of [readWord, readBool, readAddress, readText]) read(data)
      readUintArray(data, 8, 64)
      decodeMulticall(data, 3)
      if (data.length !== 66) expect(readWord(data)).toBeUndefined()
      if (data === '0x')
        expect([readWord(data), readBool(data), readText(data), readUintArray(data, 8, 4)]).toEqual([
          undefined,
          undefined,
          undefined,
          undefined,
        ])
    }),
  )
})

test('text and lists survive the round trip', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 80 }), fc.array(fc.nat({ max: 255 }), { maxLength: 8 }), (text, numbers) => {
      const clean = Buffer.from(text, 'utf8').toString('utf8')
      expect(readText(encodeAbiParameters([{ type: 'string' }], [clean]))).toBe(clean)
      const list = encodeAbiParameters([{ type: 'uint8[]' }], [numbers])
      expect(readUintArray(list, 8, 8)?.map(Number)).toEqual(numbers)
    }),
  )
})

test('logs and blocks of any shape are read or refused', () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const log = parseLog(value)
      parseBlock(value)
      if (log) {
        decodeControlEvent(log)
        decodePolicyEvent(log)
      }
    }),
  )
})

test('a policy id keeps all its 64 bits', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }), (id) => {
      const { inverted, base } = decodePolicyId(id)
      expect((inverted ? 1n << 63n : 0n) | base).toBe(id)
    }),
  )
  expect(decodePolicyId((1n << 63n) | (1n << 56n) | 1n)).toMatchObject({ inverted: true, builtIn: 'always_block' })
})

test('a cursor is read as it was written, and anything else is refused', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 14n }),
      fc.nat({ max: 999_999 }),
      fc.string(),
      (block, logIndex, other) => {
        expect(parseCursor(cursorText({ block, logIndex }))).toEqual({ block, logIndex })
        const parsed = parseCursor(other)
        if (parsed) expect(cursorText(parsed)).toBe(other)
      },
    ),
  )
})
