import { fromBase64url } from './base64.ts'
import { latin1 } from './bytes.ts'
import { verifyEd25519 } from './ed25519.ts'
import { readJsonObject } from './json-object.ts'

/** A compact EdDSA JWS, read and not yet verified. */
export type Jws = {
  kid: string
  typ: string | undefined
  payload: Uint8Array<ArrayBuffer>
  /** What the signature is over. */
  signed: Uint8Array<ArrayBuffer>
  signature: Uint8Array<ArrayBuffer>
}

const pattern = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{86})$/
export const jwsCharsMax = 8_192

/** Undefined for anything but a compact JWS by EdDSA with a key id, in its one spelling. */
export function readJws(jws: string, charsMax = jwsCharsMax): Jws | undefined {
  const [, head = '', body = '', tail = ''] = jws.length <= charsMax ? (pattern.exec(jws) ?? []) : []
  const [payload, signature] = [fromBase64url(body), fromBase64url(tail)]
  const { alg, kid, typ, crit } = readJsonObject(fromBase64url(head)) ?? {}
  if (alg !== 'EdDSA' || typeof kid !== 'string' || crit !== undefined) return undefined
  if (payload === undefined || signature?.length !== 64) return undefined
  return { kid, typ: typeof typ === 'string' ? typ : undefined, payload, signed: latin1(`${head}.${body}`), signature }
}

export const isSignedJws = ({ signed, signature }: Jws, x: string): Promise<boolean> =>
  verifyEd25519(x, signed, signature)
