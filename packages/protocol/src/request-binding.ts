import { concatBytes, fromHex, type Hex, isHex, toHex, utf8 } from './bytes.ts'
import { type Hash, keccak256 } from './hash.ts'
import { textWords, uintWord } from './typed-data/words.ts'

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
  salt: Hex
}

export const bindingVersion = 1

const tag = keccak256(utf8('assay:request-binding:v1')).subarray(0, 8)

/** First 8 bytes of every bound nonce, offered in the 402. */
export const bindingTag: Hex = toHex(tag)

/** The 32-byte EIP-3009 nonce that binds an authorization to one request. */
export function bindingNonce(parts: BindingParts, keccak: Hash = keccak256): Hex {
  return toHex(concatBytes(tag, keccak(encodeParts(parts)).subarray(0, 24)))
}

/** True when a nonce claims to be bound; it must then come with the salt that proves it. */
export function isTaggedNonce(nonce: Hex): boolean {
  return nonce.length === 66 && nonce.slice(0, 18).toLowerCase() === bindingTag
}

/** The media type as a binding names it: lower case, without parameters. */
export function bindingContentType(header: string | null | undefined): string {
  return (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

const headBytes = 6 * 32

/** abi.encode(uint256, string, string, string, bytes32, bytes32). */
function encodeParts(parts: BindingParts): Uint8Array {
  if (parts.bodyDigest.byteLength !== 32 || !isHex(parts.salt, 32))
    throw new RangeError('digest and salt have 32 bytes')
  const texts = [parts.method, parts.resource, parts.contentType].map((text) => textWords(utf8(text)))
  let at = headBytes
  const offsets = texts.map(({ length }) => {
    at += length
    return uintWord(at - length)
  })
  return concatBytes(uintWord(bindingVersion), ...offsets, parts.bodyDigest, fromHex(parts.salt), ...texts)
}
