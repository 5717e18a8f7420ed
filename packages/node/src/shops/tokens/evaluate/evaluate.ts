import { adminRole, roles, scopeNames } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import { adminSetProven, missingOf } from './completeness.ts'
import { flagsOf } from './flags.ts'
import { canStillChange } from './policies.ts'
import { powersOf } from './powers.ts'
import { reachOf } from './reach.ts'
import { isPresumedDead, unreachableParties } from './reachable.ts'
import { type Evaluation, type Party, type Power, type PowerName, powerNames, type Verdict } from './types.ts'

/** From facts to a verdict; depends on nothing else. What is not known can only keep an answer from being clean. */
export function evaluate(facts: TokenFacts): Evaluation {
  const missing = missingOf(facts)
  const powers = facts.variant === 'unsupported' ? unknownPowers() : powersOf(facts)
  const verdict = verdictOf(facts, powers, missing.length === 0)
  return {
    verdict,
    complete: missing.length === 0,
    missing,
    adminSet: adminSetProven(facts) ? 'proven' : 'unproven',
    powers,
    flags: flagsOf(facts, powers, missing, verdict),
    unreachable: unreachableParties(facts),
  }
}

function verdictOf(facts: TokenFacts, powers: Record<PowerName, Power>, complete: boolean): Verdict {
  // Proven by a view: no missing log can take this admin away.
  if (hasLiveAdmin(facts)) return 'ISSUER_CONTROLLED'
  if (!complete) return 'UNKNOWN'
  return isLocked(facts, powers) ? 'LOCKED' : 'PARTIALLY_CONTROLLED'
}

function hasLiveAdmin(facts: TokenFacts): boolean {
  if (facts.variant === 'unsupported') return false
  const reach = reachOf(facts, adminRole)
  const live = ({ account }: Party) => !isPresumedDead(facts, account)
  if (reach.holders.some(live)) return true
  // Anyone who administers the admin role can make an admin, while there is one at all.
  const frozen = !facts.adminCount.known || facts.adminCount.value === 0n
  return !frozen && reach.couldBecome.some(live)
}

const lockingRoles = [
  roles.MINT_ROLE,
  roles.SEIZE_ROLE,
  roles.BURN_BLOCKED_ROLE,
  roles.PAUSE_ROLE,
  roles.OPERATOR_ROLE,
  roles.METADATA_ROLE,
]

function isLocked(facts: TokenFacts, powers: Record<PowerName, Power>): boolean {
  const harmless: PowerName[] = ['unpause']
  if (powerNames.some((name) => !harmless.includes(name) && powers[name].now !== 'impossible')) return false
  if (lockingRoles.some((role) => reachOf(facts, role).couldBecome.length > 0)) return false
  if (scopeNames.some((scope) => canStillChange(facts, scope))) return false
  if (!facts.paused.known || facts.paused.value.length > 0) return false
  return facts.multiplier === undefined || (facts.multiplier.known && facts.multiplier.value.pending === undefined)
}

function unknownPowers(): Record<PowerName, Power> {
  const nothing: Power = {
    state: 'unknown',
    now: 'unknown',
    exercised: 0,
    who: [],
    couldBecome: [],
    why: 'This variant is not known, so nothing can be said.',
  }
  return Object.fromEntries(powerNames.map((name) => [name, nothing])) as Record<PowerName, Power>
}
