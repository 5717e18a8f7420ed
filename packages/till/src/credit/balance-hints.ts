import type { Micro } from '@assay/protocol/money'
import type { Clock } from '../kernel/clock.ts'
import type { DrawOutcome, DrawRequest } from './credit-draws.ts'

const hintsMax = 10_000
const freshMs = 10_000
/** Large enough that other calls in progress do not matter. */
const enoughCalls = 50n

type Seen = { leftMicro: Micro; atMs: number }
type Who = Pick<DrawRequest, 'account' | 'mandateId' | 'amountMicro'>

/**
 * What callers had left recently. It decides nothing about money: only whether an answer is prepared before its price
 * is taken, or the price set aside first.
 */
export function createBalanceHints(clock: Clock) {
  const seen = new Map<string, Seen>()
  const keyOf = ({ account, mandateId }: Who) => `${account} ${mandateId ?? ''}`
  return {
    hasEnough: (who: Who): boolean => {
      const hint = seen.get(keyOf(who))
      if (!hint || clock.monotonicMs() - hint.atMs > freshMs) return false
      return hint.leftMicro >= who.amountMicro * enoughCalls
    },
    saw: (who: Who, { outcome, leftMicro }: Pick<DrawOutcome, 'outcome' | 'leftMicro'>): void => {
      const key = keyOf(who)
      seen.delete(key)
      if (outcome !== 'held' || leftMicro === null) return
      seen.set(key, { leftMicro, atMs: clock.monotonicMs() })
      if (seen.size > hintsMax) seen.delete(seen.keys().next().value as string)
    },
  }
}

export type BalanceHints = ReturnType<typeof createBalanceHints>
