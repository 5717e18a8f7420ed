import { keccak256 } from '../kernel/keccak.ts'

/** EIP-191 digest of a message, as personal_sign makes it. */
export function personalMessageDigest(message: Uint8Array): Buffer {
  return keccak256(
    Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${message.byteLength}`, 'latin1'), message]),
  )
}
