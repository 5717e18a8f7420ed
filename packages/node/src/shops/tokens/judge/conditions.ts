import { type Address, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { adminRole, noSupplyCap, roles, type ScopeName } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import { hasTokenPrefix } from '../token-address.ts'
import { accountsSaid, dedupe, listMovers, rebinders, type ScopeView, viewScope } from './policies.ts'
import { allows, type Standing } from './policy-tree.ts'
import { levelOf, needsBoth, reachOf } from './reach.ts'
import { isReachable } from './reachable.ts'
import type { Level, Party } from './types.ts'

/** One thing that a power needs. `armed`: it is so now; otherwise `bringers` can bring it about. */
export type Condition = { level: Level; bringers: Party[] }

const met: Condition = { level: 'armed', bringers: [] }
const unread: Condition = { level: 'unknown', bringers: [] }

const unmet = (bringers: Party[], uncertain: boolean): Condition => ({
  level: bringers.length > 0 ? 'latent' : uncertain ? 'unknown' : 'impossible',
  bringers,
})

export const feature = { mint: 1, burn: 2, seize: 3 }

export function roleHeld(facts: TokenFacts, role: Hex): Condition {
  const reach = reachOf(facts, role)
  return { level: levelOf(facts, reach), bringers: reach.couldBecome }
}

export function notPaused(facts: TokenFacts, number: number): Condition {
  if (!facts.paused.known) return unread
  if (!facts.paused.value.includes(number)) return met
  const reach = reachOf(facts, roles.UNPAUSE_ROLE)
  const bringers = reach.couldBecome.map((party) => ({ ...party, how: `${party.how}, and so can lift the pause` }))
  return unmet(bringers, reach.uncertain)
}

/** The scope lets somebody through whom tokens can be given to. */
export function someoneReceives(facts: TokenFacts, scope: ScopeName): Condition {
  const view = viewScope(facts, scope)
  return said(facts, view, true, receivers(facts, view))
}

/** The scope lets somebody through who can call. */
export function someoneAllowed(facts: TokenFacts, scope: ScopeName): Condition {
  const view = viewScope(facts, scope)
  const callers = view.standings.filter(({ accounts }) => accounts?.some((one) => isReachable(facts, one)) ?? true)
  return said(facts, view, true, callers)
}

/** The scope denies somebody. */
export function someoneDenied(facts: TokenFacts, scope: ScopeName): Condition {
  const view = viewScope(facts, scope)
  return said(facts, view, false, view.standings)
}

/** The scope says the wanted thing of one of these accounts; `all`: there are no others. */
function said(
  facts: TokenFacts,
  view: ScopeView,
  wanted: boolean,
  standings: readonly Standing[],
  all = view.listsKnown,
): Condition {
  const { tree } = view
  if (tree === undefined) return unread
  if (standings.some(({ listed }) => allows(tree, (base) => listed.has(base)) === wanted)) return met
  return all ? movable(facts, view, wanted, standings) : unread
}

function movable(facts: TokenFacts, view: ScopeView, wanted: boolean, standings: readonly Standing[]): Condition {
  const admins = rebinders(facts)
  const bringers = dedupe([...listMovers(view, wanted, standings), ...admins.parties])
  return unmet(bringers, view.uncertain || admins.uncertain)
}

/** Nobody can be given tokens at address zero and, from Denim on, at an address of the form of a token. */
export function canReceive(facts: TokenFacts, account: Address): boolean {
  if (account === zeroAddress) return false
  const denim = !facts.fork.fork.known || facts.fork.fork.value === 'denim'
  return !(denim && hasTokenPrefix(account))
}

function receivers(facts: TokenFacts, view: ScopeView): Standing[] {
  return view.standings.filter(({ accounts }) => accounts?.some((account) => canReceive(facts, account)) ?? true)
}

/** Somebody who is not exempt, and somebody else who may receive: nothing is moved from an account to itself. */
export function someoneSeized(facts: TokenFacts, from?: Standing): Condition {
  const [exempt, destination] = [viewScope(facts, 'SEIZE_EXEMPT_POLICY'), viewScope(facts, 'SEIZE_RECEIVER_POLICY')]
  const victims = from === undefined ? exempt.standings : [from]
  const taken = said(facts, exempt, false, victims, from !== undefined || exempt.listsKnown)
  const given = said(facts, destination, true, receivers(facts, destination))
  const level = needsBoth(taken.level, given.level)
  if (level !== 'armed') return { level, bringers: dedupe([...bringersOf(taken), ...bringersOf(given)]) }
  const [sources, goals] = [from?.accounts ?? accountsSaid(exempt, false), accountsSaid(destination, true)]
  const only = goals?.filter((account) => canReceive(facts, account))
  if (only?.length !== 1 || sources?.length !== 1 || only[0] !== sources[0]) return met
  if (!destination.listsKnown || (from === undefined && !exempt.listsKnown)) return unread
  const elsewhere = movable(facts, destination, true, receivers(facts, destination))
  if (from !== undefined) return elsewhere
  const another = movable(facts, exempt, false, exempt.standings)
  const bringers = dedupe([...elsewhere.bringers, ...another.bringers])
  return unmet(bringers, elsewhere.level === 'unknown' || another.level === 'unknown')
}

export const bringersOf = ({ level, bringers }: Condition): Party[] => (level === 'armed' ? [] : bringers)

/** The supply is below the cap, or can be again: an admin raises the cap, or somebody burns. */
export function belowCap(facts: TokenFacts): Condition {
  const { supplyCap, totalSupply } = facts
  if (!supplyCap.known || !totalSupply.known) return unread
  if (totalSupply.value < supplyCap.value) return met
  const admins = reachOf(facts, adminRole)
  const raisers = supplyCap.value < noSupplyCap ? admins.couldBecome : []
  const burning = totalSupply.value > 0n ? [ownBurning(facts), blockedBurning(facts)] : []
  const bringers = dedupe([
    ...raisers.map(({ account }) => ({ account, how: 'can raise the supply cap' })),
    ...burning
      .filter(({ level }) => level === 'armed' || level === 'latent')
      .flatMap((one) => one.bringers)
      .map(({ account }) => ({ account, how: 'can burn or have burned, which makes room below the cap' })),
  ])
  return unmet(bringers, admins.uncertain || burning.some(({ level }) => level === 'unknown'))
}

function ownBurning(facts: TokenFacts): Condition {
  return together(roleHeld(facts, roles.BURN_ROLE), notPaused(facts, feature.burn))
}

function blockedBurning(facts: TokenFacts): Condition {
  return together(
    roleHeld(facts, roles.BURN_BLOCKED_ROLE),
    notPaused(facts, feature.burn),
    someoneDenied(facts, 'TRANSFER_SENDER_POLICY'),
  )
}

/** All of them are needed. */
export function together(...conditions: readonly Condition[]): Condition {
  return {
    level: conditions.map(({ level }) => level).reduce(needsBoth, 'armed'),
    bringers: dedupe(conditions.flatMap(({ bringers }) => bringers)),
  }
}

/** What a scope says of one account, and whether that can be changed. */
export function saidOf(facts: TokenFacts, scope: ScopeName, wanted: boolean, of: Standing): Condition {
  return said(facts, viewScope(facts, scope), wanted, [of], true)
}
