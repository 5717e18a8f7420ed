import type { Address } from '../address.ts'
import { concatBytes, fromHex } from '../bytes.ts'

/** 32 bytes, big-endian, as the ABI and EIP-712 encode numbers. */
export function uintWord(value: bigint | number): Uint8Array<ArrayBuffer> {
  const digits = value.toString(16)
  if (value < 0 || digits.length > 64) throw new RangeError('not a uint256')
  return fromHex(`0x${digits.padStart(64, '0')}`)
}

export const addressWord = (address: Address): Uint8Array<ArrayBuffer> =>
  concatBytes(new Uint8Array(12), fromHex(address))

/** Text in the tail of an ABI encoding: its length, then its bytes up to the next whole word. */
export function textWords(text: Uint8Array): Uint8Array<ArrayBuffer> {
  return concatBytes(uintWord(text.length), text, new Uint8Array((32 - (text.length % 32)) % 32))
}

type Field = { readonly name: string; readonly type: string }

/** `encodeType` of EIP-712, for types without structs inside. */
export function typeText(name: string, fields: readonly Field[]): string {
  return `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`
}
