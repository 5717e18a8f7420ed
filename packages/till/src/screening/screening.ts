import type { Address } from '@assay/protocol/address'

/** Why an account is not served. `reason` is a machine word. */
export type ScreeningHit = { source: string; reason: string }

/** Who must not be sold to, paid or credited. */
export type Screening = {
  /** Rejects with ScreeningUnavailable when it is unknown: nothing is then sold to or sent to anybody. */
  find(account: Address): Promise<ScreeningHit | undefined>
}

export class ScreeningUnavailable extends Error {
  override readonly name = 'ScreeningUnavailable'
}

/** The first hit of several. */
export function createScreening(parts: readonly Screening[]): Screening {
  return {
    find: async (account) => {
      for (const part of parts) {
        const hit = await part.find(account)
        if (hit) return hit
      }
      return undefined
    },
  }
}
