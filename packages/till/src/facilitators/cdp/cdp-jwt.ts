import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { type Clock, nowSeconds } from '../../kernel/clock.ts'
import type { Rng } from '../../kernel/random.ts'
import { FacilitatorConfigError } from '../http/http-facilitator.ts'

/** An API key of the Coinbase Developer Platform, ready to sign. */
export type CdpKey = { id: string; algorithm: 'EdDSA' | 'ES256'; privateKey: KeyObject }

const validSeconds = 120
const ed25519Pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Reads a secret as the portal hands it out: 64 bytes of base64 (Ed25519) or a PEM (EC P-256). */
export function readCdpKey(id: string, secret: string): CdpKey {
  if (id.trim() === '') throw new FacilitatorConfigError('CDP_API_KEY_ID: is empty')
  const text = secret.trim()
  return text.startsWith('-----BEGIN') ? readEcKey(id.trim(), text) : readEd25519Key(id.trim(), text)
}

function readEd25519Key(id: string, text: string): CdpKey {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text))
    throw new FacilitatorConfigError('CDP_API_KEY_SECRET: is neither base64 nor a PEM key')
  const bytes = Buffer.from(text, 'base64')
  if (bytes.byteLength !== 64)
    throw new FacilitatorConfigError(
      `CDP_API_KEY_SECRET: an Ed25519 secret has 64 bytes, this one has ${bytes.byteLength}`,
    )
  const privateKey = createPrivateKey({
    key: Buffer.concat([ed25519Pkcs8Head, bytes.subarray(0, 32)]),
    format: 'der',
    type: 'pkcs8',
  })
  const publicBytes = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)
  if (!publicBytes.equals(bytes.subarray(32)))
    throw new FacilitatorConfigError(
      'CDP_API_KEY_SECRET: its two halves do not belong together; copy the whole secret again',
    )
  return { id, algorithm: 'EdDSA', privateKey }
}

function readEcKey(id: string, text: string): CdpKey {
  let privateKey: KeyObject
  try {
    // Environment files often carry the line breaks of a PEM as two characters.
    privateKey = createPrivateKey(text.replaceAll('\\n', '\n'))
  } catch {
    throw new FacilitatorConfigError('CDP_API_KEY_SECRET: the PEM key cannot be read')
  }
  if (privateKey.asymmetricKeyType !== 'ec' || privateKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new FacilitatorConfigError('CDP_API_KEY_SECRET: a PEM key must be EC P-256 (ES256)')
  return { id, algorithm: 'ES256', privateKey }
}

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token for one method, host and path, good for two minutes. */
export function createCdpJwt(key: CdpKey, call: { method: string; url: URL }, clock: Clock, rng: Rng): string {
  const now = nowSeconds(clock)
  const header = { alg: key.algorithm, kid: key.id, typ: 'JWT', nonce: Buffer.from(rng.bytes(16)).toString('hex') }
  const claims = {
    sub: key.id,
    iss: 'cdp',
    uris: [`${call.method} ${call.url.host}${call.url.pathname}`],
    nbf: now,
    iat: now,
    exp: now + validSeconds,
  }
  const text = `${base64url(header)}.${base64url(claims)}`
  const signature =
    key.algorithm === 'EdDSA'
      ? sign(null, Buffer.from(text), key.privateKey)
      : sign('sha256', Buffer.from(text), { key: key.privateKey, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}
