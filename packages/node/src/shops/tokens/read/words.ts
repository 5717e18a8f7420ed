import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { encodeWord } from '@assay/protocol/typed-data/words'

export { encodeWord }

/**
 * Strict readers of ABI answers. What has not exactly the expected form is undefined: an empty or padded answer must
 * never read as zero or false.
 */
const wordPattern = /^0x[0-9a-fA-F]{64}$/

export function readWord(data: Hex): bigint | undefined {
  return wordPattern.test(data) ? BigInt(data) : undefined
}

export function readBool(data: Hex): boolean | undefined {
  const word = readWord(data)
  return word === 0n ? false : word === 1n ? true : undefined
}

export function readUint(data: Hex, bits: number): bigint | undefined {
  const word = readWord(data)
  return word !== undefined && word >> BigInt(bits) === 0n ? word : undefined
}

export function readAddress(data: Hex): Address | undefined {
  const word = readUint(data, 160)
  return word === undefined ? undefined : (`0x${word.toString(16).padStart(40, '0')}` as Address)
}

export function readHash(data: Hex): Hex | undefined {
  return wordPattern.test(data) ? (data.toLowerCase() as Hex) : undefined
}

/** Names come from issuers: they are cut here, and escaped where they are shown. */
export const textBytesMax = 1_024

export function readText(data: Hex): string | undefined {
  const length = dynamicLength(data)
  if (length === undefined || data.length < 130 + length * 2) return undefined
  const bytes = Buffer.from(data.slice(130, 130 + Math.min(length, textBytesMax) * 2), 'hex')
  return bytes.toString('utf8')
}

/** One of several dynamic texts: its head word says where it begins. */
export function readTextAt(data: Hex, index: number): string | undefined {
  if (!/^0x[0-9a-fA-F]*$/.test(data) || data.length < 66 + index * 64) return undefined
  const offset = BigInt(`0x${data.slice(2 + index * 64, 66 + index * 64)}`)
  if (offset % 32n !== 0n || offset > 1_000_000n) return undefined
  return readText(`0x${encodeWord(32n)}${data.slice(2 + Number(offset) * 2)}`)
}

/** A dynamic array of small unsigned numbers: exactly its length in words, nothing behind. */
export function readUintArray(data: Hex, bits: number, lengthMax: number): bigint[] | undefined {
  const length = dynamicLength(data)
  if (length === undefined || length > lengthMax || data.length !== 130 + length * 64) return undefined
  const values: bigint[] = []
  for (let i = 0; i < length; i += 1) {
    const value = readUint(`0x${data.slice(130 + i * 64, 194 + i * 64)}`, bits)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values
}

function dynamicLength(data: Hex): number | undefined {
  if (data.length < 130 || !/^0x[0-9a-fA-F]*$/.test(data)) return undefined
  if (BigInt(data.slice(0, 66)) !== 32n) return undefined
  const length = BigInt(`0x${data.slice(66, 130)}`)
  return length < 1_000_000n ? Number(length) : undefined
}
