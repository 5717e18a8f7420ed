import { concatHex, encodeAbiParameters, type Hex, keccak256, sha256, sliceHex, stringToHex } from 'viem'

/** docs/request-binding.md, version 1. */
export type BindingParts = {
  method: string
  resource: string
  contentType: string
  body: Uint8Array
  salt: Hex
}

export const bindingTag: Hex = sliceHex(keccak256(stringToHex('assay:request-binding:v1')), 0, 8)

const shape = [
  { type: 'uint256' },
  { type: 'string' },
  { type: 'string' },
  { type: 'string' },
  { type: 'bytes32' },
  { type: 'bytes32' },
] as const

/** The EIP-3009 nonce by which the payer's signature covers the request itself. */
export function bindingNonce(parts: BindingParts): Hex {
  const { method, resource, contentType, body, salt } = parts
  const encoded = encodeAbiParameters(shape, [1n, method.toUpperCase(), resource, contentType, sha256(body), salt])
  return concatHex([bindingTag, sliceHex(keccak256(encoded), 0, 24)])
}

export function bindingContentType(header: string | null): string {
  return (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}
