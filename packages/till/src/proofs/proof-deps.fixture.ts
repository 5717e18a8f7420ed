import type { Clock } from '../kernel/clock.ts'
import { systemRng } from '../kernel/random.ts'
import type { CheckContractSignature } from './contract-signature.ts'
import { createNonceIssuer } from './nonces.ts'
import type { ProofDeps } from './proof-deps.ts'

/** Proof dependencies without database or chain, for tests; the clock can be moved. */
export function createTestDeps(check: CheckContractSignature = async () => 'invalid'): ProofDeps & {
  advance(ms: number): void
} {
  let nowMs = 1_800_000_000_000
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {} }
  const claimed = new Set<string>()
  return {
    clock,
    nonces: createNonceIssuer({ secret: Buffer.alloc(32, 1), clock, rng: systemRng }),
    claimNonce: async ({ scope, key }) => {
      const name = `${scope}:${key}`
      if (claimed.has(name)) return false
      claimed.add(name)
      return true
    },
    checkContractSignature: check,
    chainIds: [8453, 137],
    advance: (ms) => {
      nowMs += ms
    },
  }
}
