import { type Hex, toHex } from '@assay/protocol/bytes'
import { fromHex } from './bytes.ts'
import { keccak256 } from './keccak.ts'

/** What the nonce of a bound payment commits to. The definition is docs/request-binding.md. */
export type BindingParts = {
  /** Upper case. */
  method: string
  /** `resource.url` of PAYMENT-REQUIRED, letter for letter, query included. */
  resource: string
  /** Media type of the request body, lower case, without parameters; "" without a body. */
  contentType: string
  /** sha256 of the body bytes, of no bytes when there is no body. */
  bodyDigest: Uint8Array
  /** 32 fresh random bytes per authorization. */
  salt: Uint8Array
}

export const bindingVersion = 1

const tag = keccak256(Buffer.from('assay:request-binding:v1')).subarray(0, 8)

/** First 8 bytes of every bound nonce, offered in the 402. */
export const bindingTag: Hex = toHex(tag)

/** The 32-byte EIP-3009 nonce that binds an authorization to one request. */
export function bindingNonce(parts: BindingParts): Hex {
  const digest = keccak256(encodeParts(parts))
  return toHex(Buffer.concat([tag, digest.subarray(0, 24)]))
}

/** True when a nonce claims to be bound; it must then come with the salt that proves it. */
export function isTaggedNonce(nonce: Hex): boolean {
  return nonce.length === 66 && fromHex(nonce.slice(0, 18) as Hex).equals(tag)
}

/** The media type as a binding names it: lower case, without parameters. */
export function bindingContentType(header: string | undefined): string {
  return (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** abi.encode(uint256, string, string, string, bytes32, bytes32). */
function encodeParts(parts: BindingParts): Buffer {
  if (parts.bodyDigest.byteLength !== 32 || parts.salt.byteLength !== 32)
    throw new RangeError('digest and salt have 32 bytes')
  const strings = [parts.method, parts.resource, parts.contentType].map(encodeString)
  const head = Buffer.alloc(6 * 32)
  head.writeUInt32BE(bindingVersion, 28)
  let offset = head.byteLength
  for (const [index, text] of strings.entries()) {
    head.writeUInt32BE(offset, (index + 1) * 32 + 28)
    offset += text.byteLength
  }
  head.set(parts.bodyDigest, 4 * 32)
  head.set(parts.salt, 5 * 32)
  return Buffer.concat([head, ...strings])
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text)
  const words = Buffer.alloc(32 + Math.ceil(bytes.byteLength / 32) * 32)
  words.writeUInt32BE(bytes.byteLength, 28)
  bytes.copy(words, 32)
  return words
}
