import type { Clock } from '../kernel/clock.ts'
import type { CheckContractSignature } from './contract-signature.ts'
import type { NonceIssuer } from './nonces.ts'

/** One insert decides: true for the first caller only. */
export type ClaimNonce = (claim: { scope: string; key: string; expiresAtMs: number }) => Promise<boolean>

/** What the proof of a signed request needs; `nonces` are for challenges. */
export type ProofDeps = RequestProofDeps & { nonces: NonceIssuer }

export type RequestProofDeps = {
  clock: Clock
  claimNonce: ClaimNonce
  checkContractSignature: CheckContractSignature
  /** Chains whose accounts are accepted. */
  chainIds: readonly number[]
}

/** Clocks of honest callers differ by a little. */
export const clockSkewMs = 5_000
