import type { Address } from '@assay/protocol/address'
import type { Clock } from '../../kernel/clock.ts'

const rememberedMax = 20_000
const rememberedMs = 10 * 60_000

/**
 * Which payers have no code. One that has decides itself how much gas its signature check burns, so it never shares a
 * transaction with others. An account can gain code at any time, therefore nothing is remembered for long.
 */
export function createPayerCodes(clock: Clock) {
  const plainSince = new Map<Address, number>()
  return {
    isKnownPlain: (payer: Address): boolean =>
      clock.monotonicMs() - (plainSince.get(payer) ?? Number.NEGATIVE_INFINITY) < rememberedMs,
    /** Takes the answer of eth_getCode and says whether there is code. */
    learn(payer: Address, answer: unknown): boolean {
      if (answer !== '0x') return true
      plainSince.delete(payer)
      plainSince.set(payer, clock.monotonicMs())
      const oldest = plainSince.size > rememberedMax ? plainSince.keys().next().value : undefined
      if (oldest !== undefined) plainSince.delete(oldest)
      return false
    },
  }
}

export type PayerCodes = ReturnType<typeof createPayerCodes>
