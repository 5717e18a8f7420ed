import { type KeyObject, sign } from 'node:crypto'
import { createRequire } from 'node:module'

type Sign = (bytes: Uint8Array) => Buffer
type Sodium = { crypto_sign_detached(signature: Buffer, bytes: Uint8Array, secretKey: Uint8Array): void }

const sodium = loadSodium()

function loadSodium(): Sodium | undefined {
  try {
    return createRequire(import.meta.url)('sodium-native') as Sodium
  } catch {
    return undefined
  }
}

const sample = Buffer.from('compared before a key signs with libsodium')

/**
 * Signs with libsodium where it is installed, which takes about half the time, and otherwise with node:crypto. Ed25519 gives
 * the same bytes in both; a key for which it does not stays with node:crypto.
 */
export function openEd25519(privateKey: KeyObject): Sign {
  const inOpenssl: Sign = (bytes) => sign(null, bytes, privateKey)
  if (sodium === undefined) return inOpenssl
  const inSodium = openSodium(sodium, privateKey)
  try {
    return inSodium(sample).equals(inOpenssl(sample)) ? inSodium : inOpenssl
  } catch {
    return inOpenssl
  }
}

function openSodium({ crypto_sign_detached: signDetached }: Sodium, privateKey: KeyObject): Sign {
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' })
  // Not from the pool: small buffers are parts of one that others share.
  const secretKey = Buffer.alloc(64)
  secretKey.write(d, 0, 'base64url')
  secretKey.write(x, 32, 'base64url')
  return (bytes) => {
    const signature = Buffer.allocUnsafe(64)
    signDetached(signature, bytes, secretKey)
    return signature
  }
}
