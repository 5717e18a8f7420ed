import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { encodeWord } from './words.ts'

export type ViewCall = { to: Address; data: Hex }

/** What one call inside a multicall gave. A revert is an answer too; fork probes live on it. */
export type ViewResult = { success: boolean; data: Hex }

const aggregate3 = '0x82ad56cb'
// These stand in front of every single call.
const [wordOne, word32, word96] = [encodeWord(1), encodeWord(32), encodeWord(96)]
const wordDigits = 64
const hexPattern = /^0x[0-9a-fA-F]+$/
const leadingZeros = '0'.repeat(50)

/** Multicall3.aggregate3 with every failure allowed. Written by hand: it runs thousands of times a second. */
export function encodeMulticall(calls: readonly ViewCall[]): Hex {
  const parts: string[] = [aggregate3, word32, encodeWord(calls.length)]
  let offset = calls.length * 32
  const tuples: string[] = []
  for (const { to, data } of calls) {
    parts.push(encodeWord(offset))
    const digits = data.slice(2)
    const padded = digits.padEnd(Math.ceil(digits.length / wordDigits) * wordDigits, '0')
    tuples.push(encodeWord(to), wordOne, word96, encodeWord(digits.length / 2), padded)
    offset += 128 + padded.length / 2
  }
  return (parts.join('') + tuples.join('')) as Hex
}

/** Undefined for anything that is not exactly one result per call. */
export function decodeMulticall(answer: unknown, count: number): ViewResult[] | undefined {
  if (typeof answer !== 'string' || answer.length % wordDigits !== 2 || !hexPattern.test(answer)) return undefined
  const wordAt = (byte: number): number | undefined => {
    const at = 2 + byte * 2
    if (at + wordDigits > answer.length || !answer.startsWith(leadingZeros, at)) return undefined
    return Number.parseInt(answer.slice(at + leadingZeros.length, at + wordDigits), 16)
  }
  if (wordAt(0) !== 32 || wordAt(32) !== count) return undefined
  const results: ViewResult[] = []
  for (let i = 0; i < count; i += 1) {
    const offset = wordAt(64 + i * 32)
    if (offset === undefined) return undefined
    const start = 64 + offset
    const success = wordAt(start)
    const length = wordAt(start + 64)
    if (wordAt(start + 32) !== 64 || length === undefined || (success !== 0 && success !== 1)) return undefined
    const from = 2 + (start + 96) * 2
    if (answer.length < from + length * 2) return undefined
    results.push({ success: success === 1, data: `0x${answer.slice(from, from + length * 2)}` })
  }
  return results
}

/** The calls inside an encoded multicall, for stand-ins that answer it. */
export function decodeMulticallRequest(data: Hex): ViewCall[] | undefined {
  if (!data.startsWith(aggregate3)) return undefined
  const body = data.slice(10)
  const wordAt = (byte: number) => Number.parseInt(body.slice(byte * 2, byte * 2 + 64), 16)
  const count = wordAt(32)
  return Array.from({ length: count }, (_, i) => {
    const start = 64 + wordAt(64 + i * 32)
    const length = wordAt(start + 96)
    const from = (start + 128) * 2
    return {
      to: `0x${body.slice(start * 2 + 24, start * 2 + 64)}` as Address,
      data: `0x${body.slice(from, from + length * 2)}` as Hex,
    }
  })
}
