import type { Json } from '@assay/protocol/canonical-json'
import { didKeyUrl } from '@assay/protocol/did'
import type { JwsPort } from '../contract/offers.ts'
import type { Clock } from '../kernel/clock.ts'
import { createJwsSigner, type Keyring, verifyJws } from '../signing/index.ts'

/** Offers and receipts: signed with the active key, believed only under our own key that was not revoked. */
export function createJwsPort(keyring: Keyring, authority: string, clock: Clock): JwsPort {
  const signer = createJwsSigner(keyring, { authority, clock })
  const publicKeyOf = (kid: string) =>
    keyring.keys().find((key) => key.revokedAtMs === undefined && didKeyUrl(authority, key.keyId) === kid)?.x
  return {
    sign: (payload) => signer.sign(JSON.stringify(payload)),
    verify: (jws) => {
      const parts = verifyJws(jws, publicKeyOf)
      return parts && (JSON.parse(parts.json) as Json)
    },
  }
}
