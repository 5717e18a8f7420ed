import type { Address } from '@assay/protocol/address'

export type TokenVariant = 'asset' | 'stablecoin' | 'unsupported'

const prefix = /^0xb2(?:00){9}/

/** Decidable without any read: byte 0xB2, nine zero bytes, variant, nine bytes of hash. */
export function hasTokenPrefix(address: Address): boolean {
  return prefix.test(address)
}

/** The eleventh byte. Values nobody has reviewed stay a number. */
export function variantByte(address: Address): number {
  return Number.parseInt(address.slice(22, 24), 16)
}

export function variantOf(address: Address): TokenVariant {
  const byte = variantByte(address)
  return byte === 0 ? 'asset' : byte === 1 ? 'stablecoin' : 'unsupported'
}
