import { hasExpired } from './resolve-unknown.ts'

/** Nothing leaves while the books miss money, or are older than the chain. */
export const moneyMayLeave = (facts: { stopped: boolean; restoring: boolean }): boolean =>
  !facts.stopped && !facts.restoring

type Use = { status: 'transfer' | 'canceled' | 'absent' | 'could_not_read' }

/** What a used key means for its payout; nothing until its block is final. */
export function decidePayoutUse(use: Use, final: boolean): 'paid' | 'canceled' | 'mined' | 'wait' {
  if (use.status === 'absent' || use.status === 'could_not_read') return 'wait'
  if (!final) return 'mined'
  return use.status === 'transfer' ? 'paid' : 'canceled'
}

/** Its debt is owed again once it is provably never paid: expired at a final block, and unused at that very block. */
export function decideUnusedPayout(facts: {
  finalTime: number
  validBefore: bigint
  usedAtFinal?: boolean
}): 'wait' | 'read_final' | 'return' {
  if (!hasExpired(facts.finalTime, facts.validBefore)) return 'wait'
  if (facts.usedAtFinal === undefined) return 'read_final'
  return facts.usedAtFinal ? 'wait' : 'return'
}
