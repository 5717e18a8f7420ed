import type { Json } from '@assay/protocol/canonical-json'
import { didKeyUrl } from '@assay/protocol/did'
import type { JwsPort } from '../contract/offers.ts'
import type { Clock } from '../kernel/clock.ts'
import { createJwsSigner, type JwsSigner, type Keyring, verifyJws } from '../signing/index.ts'

/**
 * Offers and receipts: signed with the active key, believed only under our own key that was not revoked. A node with more
 * than one address signs in the name of the one that sold: buyers look for the key there.
 */
export function createJwsPort(
  keyring: Keyring,
  authority: string,
  clock: Clock,
  otherAuthorities: readonly string[] = [],
): JwsPort {
  const signers = new Map(
    [authority, ...otherAuthorities].map((name) => [name, createJwsSigner(keyring, { authority: name, clock })]),
  )
  const own = signers.get(authority) as JwsSigner
  const publicKeyOf = (kid: string) =>
    keyring
      .keys()
      .find(
        (key) =>
          key.revokedAtMs === undefined && [...signers.keys()].some((name) => didKeyUrl(name, key.keyId) === kid),
      )?.x
  return {
    sign: (payload, soldAt) => (signers.get(soldAt ?? authority) ?? own).sign(JSON.stringify(payload)),
    verify: (jws) => {
      const parts = verifyJws(jws, publicKeyOf)
      return parts && (JSON.parse(parts.json) as Json)
    },
  }
}
