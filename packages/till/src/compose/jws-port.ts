import type { Json } from '@assay/protocol/canonical-json'
import { didKeyUrl } from '@assay/protocol/did'
import type { JwsPort } from '../contract/offers.ts'
import type { Clock } from '../kernel/clock.ts'
import { createJwsSigner, type Keyring, verifyJws } from '../signing/index.ts'

/**
 * Offers and receipts: signed with the active key under the host of what is sold, or the first of ours; believed only
 * under our own key that was not revoked.
 */
export function createJwsPort(keyring: Keyring, authorities: readonly [string, ...string[]], clock: Clock): JwsPort {
  const [first] = authorities
  const signers = new Map(authorities.map((authority) => [authority, createJwsSigner(keyring, { authority, clock })]))
  const usual = signers.get(first) ?? createJwsSigner(keyring, { authority: first, clock })
  const signerOf = (about: string | undefined) =>
    signers.size === 1 || about === undefined ? usual : (signers.get(new URL(about).host) ?? usual)
  const publicKeyOf = (kid: string) =>
    keyring
      .keys()
      .find(
        ({ keyId, revokedAtMs }) =>
          revokedAtMs === undefined && authorities.some((authority) => didKeyUrl(authority, keyId) === kid),
      )?.x
  return {
    sign: (payload, about) => signerOf(about).sign(JSON.stringify(payload)),
    verify: (jws) => {
      const parts = verifyJws(jws, publicKeyOf)
      return parts && (JSON.parse(parts.json) as Json)
    },
  }
}
