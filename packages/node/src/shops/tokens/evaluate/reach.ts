import type { Hex } from '@assay/protocol/bytes'
import { adminRole, roleLabel } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import { adminSetProven, logsComplete } from './completeness.ts'
import { isPresumedDead, isReachable } from './reachable.ts'
import type { Level, Party } from './types.ts'

/** Who has a role, and who could come to have it. Those who can never call are left out of both. */
export type RoleReach = {
  holders: Party[]
  couldBecome: Party[]
  /** Somebody may be missing from the holders. */
  holdersUncertain: boolean
  /** Somebody may be missing from those who could become one. */
  uncertain: boolean
}

export function reachOf(facts: TokenFacts, role: Hex): RoleReach {
  const holders = partiesOf(facts, role, `holds ${roleLabel(role)}`)
  const holdersUncertain = isUncertain(facts, role)
  // Without admins nothing about roles can change any more, whatever the role admins are.
  if (facts.adminCount.known && facts.adminCount.value === 0n)
    return { holders, couldBecome: holders, holdersUncertain, uncertain: holdersUncertain }
  const path = pathOf(facts, role)
  const couldBecome = [...holders]
  for (const step of path.roles.slice(1))
    for (const party of partiesOf(facts, step, `can grant ${roleLabel(role)} through ${roleLabel(step)}`))
      if (!couldBecome.some(({ account }) => account === party.account)) couldBecome.push(party)
  const uncertain = path.broken || !facts.adminCount.known || path.roles.some((step) => isUncertain(facts, step))
  return { holders, couldBecome, holdersUncertain, uncertain }
}

/** r, its admin role, the admin of that, until it repeats. `broken`: a step could not be read. */
export function pathOf(facts: TokenFacts, role: Hex): { roles: Hex[]; broken: boolean } {
  const path: Hex[] = []
  let step = role
  while (!path.includes(step)) {
    path.push(step)
    const admin = facts.roles.get(step)?.admin
    if (!admin?.known) return { roles: path, broken: true }
    step = admin.value
  }
  return { roles: path, broken: false }
}

function partiesOf(facts: TokenFacts, role: Hex, how: string): Party[] {
  const holders = facts.roles.get(role)?.holders ?? []
  return holders.filter(({ account }) => isReachable(facts, account)).map(({ account }) => ({ account, how }))
}

function isUncertain(facts: TokenFacts, role: Hex): boolean {
  // Admins are counted in storage: their set can be proven whole without a single log.
  if (role === adminRole) return !adminSetProven(facts)
  const found = facts.roles.get(role)
  return found === undefined || found.unreadPairs.length > 0 || !logsComplete(facts)
}

export const isLive = (facts: TokenFacts, { account }: Party): boolean => !isPresumedDead(facts, account)

export function levelOf(facts: TokenFacts, reach: RoleReach): Level {
  if (reach.holders.some((party) => isLive(facts, party))) return 'armed'
  if (reach.holdersUncertain || reach.uncertain) return 'unknown'
  return reach.couldBecome.length > 0 ? 'latent' : 'impossible'
}

/** Whether somebody can rebind policies and move the cap, now or after granting themselves admin. */
export function adminLevel(facts: TokenFacts): Level {
  if (facts.adminCount.known && facts.adminCount.value === 0n && adminSetProven(facts)) return 'impossible'
  return levelOf(facts, reachOf(facts, adminRole))
}

const order: Record<Level, number> = { impossible: 0, latent: 1, unknown: 2, armed: 3 }

/** The worst that may be true: what is unknown may hide anything but what is already proven armed. */
export function worst(...levels: Level[]): Level {
  return levels.reduce((a, b) => (order[b] > order[a] ? b : a), 'impossible')
}

/** Both are needed: the weaker one decides, and an unknown one is only outdone by an impossible one. */
export function needsBoth(a: Level, b: Level): Level {
  if (a === 'impossible' || b === 'impossible') return 'impossible'
  if (a === 'unknown' || b === 'unknown') return 'unknown'
  return a === 'armed' && b === 'armed' ? 'armed' : 'latent'
}
