import { fromBase64url } from './base64.ts'

export class Ed25519Unsupported extends Error {
  override readonly name = 'Ed25519Unsupported'
  constructor(cause: unknown) {
    super('This platform has no Ed25519. Use Node 20, or a browser whose WebCrypto supports it.', { cause })
  }
}

/** Verifies with WebCrypto. False for a wrong signature; throws only where the platform has no Ed25519. */
export async function verifyEd25519(
  x: string,
  message: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const raw = fromBase64url(x)
  if (raw?.byteLength !== 32 || signature.byteLength !== 64) return false
  try {
    const key = await crypto.subtle.importKey('raw', raw, { name: 'Ed25519' }, false, ['verify'])
    return await crypto.subtle.verify({ name: 'Ed25519' }, key, signature, message)
  } catch (error) {
    if (error instanceof Error && error.name === 'DataError') return false
    throw new Ed25519Unsupported(error)
  }
}
