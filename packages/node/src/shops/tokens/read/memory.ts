import type { Address } from '@assay/protocol/address'
import type { RawLog } from './decode-events.ts'
import type { Asked } from './questions.ts'

/** What the last reading of a token asked. A guess at what the next one will ask, and nothing else. */
export type Remembered = { asked: Asked; creation: RawLog | undefined; policies: readonly bigint[] }

export type ReadMemory = {
  of(token: Address): Remembered | undefined
  keep(token: Address, reading: Remembered): void
}

const tokensMax = 2_000
// Long lists are rather asked about again, page by page.
const questionsMax = 4_000

export function createMemory(): ReadMemory {
  const kept = new Map<Address, Remembered>()
  return {
    of: (token) => kept.get(token),
    keep: (token, reading) => {
      kept.delete(token)
      if (reading.asked.views.length + reading.asked.raws.length > questionsMax) return
      kept.set(token, reading)
      if (kept.size > tokensMax) kept.delete(kept.keys().next().value as Address)
    },
  }
}
