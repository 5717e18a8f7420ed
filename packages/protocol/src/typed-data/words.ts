import type { Address } from '../address.ts'
import { concatBytes, fromHex, type Hex } from '../bytes.ts'

const uint64Max = 0xffff_ffff_ffff_ffffn

/** 32 bytes, big-endian, as the ABI and EIP-712 encode numbers. */
export function uintWord(value: bigint | number): Uint8Array<ArrayBuffer> {
  const whole = BigInt(value)
  const digits = whole > uint64Max ? whole.toString(16) : ''
  if (whole < 0n || digits.length > 64) throw new RangeError('not a uint256')
  if (digits !== '') return fromHex(`0x${digits.padStart(64, '0')}`)
  const word = new Uint8Array(32)
  new DataView(word.buffer).setBigUint64(24, whole)
  return word
}

export const addressWord = (address: Address): Uint8Array<ArrayBuffer> =>
  concatBytes(new Uint8Array(12), fromHex(address))

/** A number, an address or a word as the digits of one word, for calldata that is put together as text. */
export const encodeWord = (value: bigint | number | Hex): string =>
  (typeof value === 'string' ? value.slice(2).toLowerCase() : value.toString(16)).padStart(64, '0')

/** Text in the tail of an ABI encoding: its length, then its bytes up to the next whole word. */
export function textWords(text: Uint8Array): Uint8Array<ArrayBuffer> {
  return concatBytes(uintWord(text.length), text, new Uint8Array((32 - (text.length % 32)) % 32))
}

type Field = { readonly name: string; readonly type: string }

/** `encodeType` of EIP-712, for types without structs inside. */
export function typeText(name: string, fields: readonly Field[]): string {
  return `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`
}
