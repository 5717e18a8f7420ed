import { didKeyUrl } from '@assay/protocol/did'
import { jwsCharsMax, readJws } from '@assay/protocol/jws'
import type { Clock } from '../kernel/clock.ts'
import type { Keyring } from './keyring.ts'
import { type PrivateSigningKey, signEd25519, verifyEd25519 } from './signing-key.ts'

/** Compact EdDSA JWS whose `kid` is our did:web key URL: offers, receipts, session tokens. */
export type JwsSigner = {
  /** `json` is signed unchanged. `share` lets the same text reuse its signature for a few seconds. */
  sign(json: string, options?: { share?: boolean }): string
}

export type JwsSignerOptions = {
  /** Host and port of the base address that publishes the keys. */
  authority: string
  clock: Clock
  typ?: string
  shareMs?: number
  shareEntriesMax?: number
}

export function createJwsSigner(keyring: Keyring, options: JwsSignerOptions): JwsSigner {
  const { authority, clock, typ, shareMs = 5_000, shareEntriesMax = 1_024 } = options
  const shared = new Map<string, { jws: string; key: PrivateSigningKey; untilMs: number }>()
  let headerKey: PrivateSigningKey | undefined
  let header = ''

  const fresh = (key: PrivateSigningKey, json: string): string => {
    if (key !== headerKey) {
      headerKey = key
      const fields = { alg: 'EdDSA', ...(typ === undefined ? {} : { typ }), kid: didKeyUrl(authority, key.keyId) }
      header = base64url(JSON.stringify(fields))
    }
    const input = `${header}.${base64url(json)}`
    return `${input}.${signEd25519(key, Buffer.from(input, 'latin1')).toString('base64url')}`
  }

  return {
    sign: (json, { share = false } = {}) => {
      const key = keyring.active()
      if (!share) return fresh(key, json)
      const nowMs = clock.nowMs()
      const known = shared.get(json)
      if (known !== undefined && known.key === key && known.untilMs > nowMs) return known.jws
      if (shared.size >= shareEntriesMax) shared.clear()
      const jws = fresh(key, json)
      shared.set(json, { jws, key, untilMs: nowMs + shareMs })
      return jws
    },
  }
}

function base64url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url')
}

export type JwsParts = { kid: string; typ: string | undefined; json: string }

/** The verified content of a compact EdDSA JWS, or undefined. `publicKeyOf` decides which keys are trusted, and when. */
export function verifyJws(
  text: string,
  publicKeyOf: (kid: string) => string | undefined,
  charsMax = jwsCharsMax,
): JwsParts | undefined {
  const jws = readJws(text, charsMax)
  if (jws === undefined) return undefined
  const x = publicKeyOf(jws.kid)
  if (x === undefined || !verifyEd25519(x, jws.signed, jws.signature)) return undefined
  return { kid: jws.kid, typ: jws.typ, json: Buffer.from(jws.payload).toString('utf8') }
}
