import { describe, expect, test } from 'vitest'
import { checksumAddress, hasChecksum, parseAddress, sameAddress, zeroAddress } from './address.ts'
import { fromHex, isHex, sameBytes, toHex } from './bytes.ts'
import { canonicalJson, jsonDepth, tryCanonicalJson } from './canonical-json.ts'
import { findKeyFault } from './json-keys.ts'

const mixed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

describe('addresses', () => {
  test('any case is read, and one case is kept', () => {
    expect(parseAddress(mixed)).toBe(mixed.toLowerCase())
    expect(parseAddress(`0x${mixed.slice(2).toUpperCase()}`)).toBe(mixed.toLowerCase())
    expect(parseAddress(zeroAddress)).toBe(`0x${'0'.repeat(40)}`)
    for (const bad of [undefined, 7, '', mixed.slice(2), `${mixed}0`, `x${mixed}`, mixed.slice(0, -1), `${mixed}\n`])
      expect(parseAddress(bad), String(bad)).toBeUndefined()
    expect(parseAddress({ toString: () => mixed })).toBeUndefined()
  })

  test('a checksum is asked for letter by letter', () => {
    expect(checksumAddress(mixed.toLowerCase() as `0x${string}`)).toBe(mixed)
    expect(hasChecksum(mixed)).toBe(true)
    expect(hasChecksum(mixed.toLowerCase())).toBe(false)
    expect(hasChecksum('0x12')).toBe(false)
  })

  test('two spellings of one address are the same', () => {
    expect(sameAddress(mixed, mixed.toLowerCase())).toBe(true)
    expect(sameAddress(mixed.toLowerCase(), mixed)).toBe(true)
    expect(sameAddress(mixed, zeroAddress)).toBe(false)
  })
})

describe('bytes', () => {
  test('hex has whole bytes, of the number asked for', () => {
    for (const good of ['0x', '0x00', '0xaBcD']) expect(isHex(good), good).toBe(true)
    for (const bad of ['', '00', '0x0', '0x000', '0xgg', 'x0x00', '0x00\n', 7, null]) expect(isHex(bad)).toBe(false)
    expect([isHex('0x0000', 2), isHex('0x0000', 1), isHex('0x0000', 3), isHex('0x', 0)]).toEqual([
      true,
      false,
      false,
      true,
    ])
  })

  test('a view of a larger buffer gives its own bytes alone', () => {
    const whole = Uint8Array.of(1, 2, 3, 4)
    expect(toHex(whole.subarray(1, 3))).toBe('0x0203')
    expect([...fromHex('0x0203')]).toEqual([2, 3])
  })

  test('bytes of different length are different', () => {
    expect(sameBytes(Buffer.of(1, 2), Buffer.of(1, 2))).toBe(true)
    expect(sameBytes(Buffer.of(1, 2), Buffer.of(1, 3))).toBe(false)
    expect(sameBytes(Buffer.of(1, 2), Buffer.of(1))).toBe(false)
  })
})

describe('canonical JSON', () => {
  test('keys are sorted at every depth, and what is undefined is left out', () => {
    const value = { b: [1, { z: null, a: true }], a: 'ä"', c: undefined, B: {} }
    expect(canonicalJson(value)).toBe('{"B":{},"a":"ä\\"","b":[1,{"a":true,"z":null}]}')
    expect(canonicalJson([])).toBe('[]')
    expect(canonicalJson(null)).toBe('null')
  })

  test('numbers that JSON does not have are refused', () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) expect(() => canonicalJson(bad)).toThrow(RangeError)
    expect(canonicalJson(1.5)).toBe('1.5')
    expect(tryCanonicalJson(JSON.parse('{"a":[1e999]}'))).toBeUndefined()
    expect(tryCanonicalJson(undefined)).toBeUndefined()
  })

  test.each([
    ['1', 0],
    ['{}', 1],
    ['[[],[]]', 2],
    ['{"a":{"b":[1]}}', 3],
    ['[{"a":1},[[]]]', 3],
    ['"[[["', 0],
    ['["\\"[[",[]]', 2],
    ['["\\\\",[[]]]', 3],
    ['[[[]]', 3],
  ])('the depth of %s is %i', (text, depth) => {
    expect(jsonDepth(text)).toBe(depth)
  })
})

describe('keys of JSON', () => {
  test.each([
    '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}',
    '["a","a"]',
    '{"a":"a","b":["b","b"]}',
    '{"a":[1,"x","x"],"b":"x"}',
    '{"x":"__proto__"}',
    '["constructor","__proto__"]',
    '{"a\\"":1,"a":2}',
    '{"a":{},"b":[],"c":"{\\"a\\":1,\\"a\\":2}"}',
    '"a"',
    '7',
  ])('%s has no fault', (text) => {
    expect(findKeyFault(text)).toBeUndefined()
  })

  test.each([
    ['{"a":1,"a":2}', 'has the key "a" twice'],
    ['{"a":1,"\\u0061":2}', 'has the key "a" twice'],
    ['[{"b":[{"a":[],"x":{},"a":1}]}]', 'has the key "a" twice'],
    ['{"a":{"b":1},"c":[1,"d"],"a":0}', 'has the key "a" twice'],
    ['{"__proto__":1}', 'may not have the key __proto__'],
    ['[{"a":{"constructor":1}}]', 'may not have the key constructor'],
    ['{"prototype":{}}', 'may not have the key prototype'],
  ])('%s is refused', (text, fault) => {
    expect(findKeyFault(text)).toBe(fault)
  })

  test('a long key is named by its beginning', () => {
    const key = 'k'.repeat(100)
    expect(findKeyFault(`{"${key}":1,"${key}":2}`)).toBe(`has the key "${'k'.repeat(64)}" twice`)
  })
})
