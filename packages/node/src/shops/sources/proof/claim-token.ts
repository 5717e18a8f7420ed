import { createHmac } from 'node:crypto'
import type { Address } from '@assay/protocol/address'
import { base32 } from '@assay/till/kernel/ids'
import type { ProofEvidence } from './gather-proof.ts'
import type { ProofTerms } from './instructions.ts'
import type { PublishedClaim } from './parse-proof.ts'

const dayMs = 86_400_000

/**
 * What a wallet publishes to prove a domain on a day (UTC). It follows from the secret of the database, so registering
 * stores nothing that others could crowd out, and only a caller who was given the values can publish them.
 */
function termsOfDay(secret: Uint8Array, domain: string, wallet: Address, day: number): ProofTerms {
  const derive = (text: string) => createHmac('sha256', secret).update(text).digest()
  return {
    claimId: `clm_${base32(derive(`source account\n${domain}\n${wallet}`)).slice(0, 26)}`,
    domain,
    wallet,
    token: derive(`source token\n${domain}\n${wallet}\n${day}`).toString('base64url'),
  }
}

/** Those of today, which are shown, and those of yesterday, which count too. */
export function freshTerms(
  secret: Uint8Array,
  domain: string,
  wallet: Address,
  nowMs: number,
): readonly [ProofTerms, ProofTerms] {
  const today = Math.floor(nowMs / dayMs)
  return [termsOfDay(secret, domain, wallet, today), termsOfDay(secret, domain, wallet, today - 1)]
}

/** When the values shown now stop counting. */
export const termsExpireAt = (nowMs: number) => new Date((Math.floor(nowMs / dayMs) + 2) * dayMs)

/** Wallets that a domain names in any way of proof. */
export function walletsPublished(evidence: ProofEvidence): Address[] {
  const claims: PublishedClaim[] = [evidence.dns, evidence.file, evidence.meta].flatMap((finding) =>
    finding.status === 'read' ? finding.claims : [],
  )
  const wallets = claims.flatMap(({ pay }) => (pay === undefined ? [] : [pay.slice(-42).toLowerCase() as Address]))
  return [...new Set(wallets)]
}
