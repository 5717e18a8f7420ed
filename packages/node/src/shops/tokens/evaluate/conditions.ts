import { type Address, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { adminRole, noSupplyCap, roles, type ScopeName } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import { hasTokenPrefix } from '../token-address.ts'
import { accountsOf, dedupe, findListEditors, findPolicyAdmins, type ScopeView, saysOf, viewScope } from './policies.ts'
import { type Membership, membershipsOf, type Tree } from './policy-tree.ts'
import { levelOf, needsBoth, reachOf } from './reach.ts'
import { isReachable } from './reachable.ts'
import type { Level, Party } from './types.ts'

/** One thing that a power needs. `armed`: it is so now; otherwise `enablers` can bring it about. */
export type Condition = { level: Level; enablers: Party[] }

const met: Condition = { level: 'armed', enablers: [] }
const unread: Condition = { level: 'unknown', enablers: [] }

/** `proven`: one of the enablers can do it for certain, whatever was not read. */
const unmet = (enablers: Party[], uncertain: boolean, proven: boolean): Condition => ({
  level: uncertain && !proven ? 'unknown' : enablers.length > 0 ? 'latent' : 'impossible',
  enablers,
})

export const feature = { mint: 1, burn: 2, seize: 3 }

export function roleHeld(facts: TokenFacts, role: Hex): Condition {
  const reach = reachOf(facts, role)
  return { level: levelOf(facts, reach), enablers: reach.couldBecome }
}

export function notPaused(facts: TokenFacts, number: number): Condition {
  if (!facts.paused.known) return unread
  if (!facts.paused.value.includes(number)) return met
  const reach = reachOf(facts, roles.UNPAUSE_ROLE)
  const enablers = reach.couldBecome.map((party) => ({ ...party, how: `${party.how}, and so can lift the pause` }))
  return unmet(enablers, reach.uncertain, reach.holders.length > 0)
}

/** The scope lets somebody through whom tokens can be given to. */
export function someoneReceives(facts: TokenFacts, scope: ScopeName): Condition {
  const view = viewScope(facts, scope)
  return said(facts, view, true, receivers(facts, view))
}

/** The scope lets somebody through who can call. */
export function someoneAllowed(facts: TokenFacts, scope: ScopeName): Condition {
  const view = viewScope(facts, scope)
  const callers = view.memberships.filter(({ accounts }) => accounts?.some((one) => isReachable(facts, one)) ?? true)
  return said(facts, view, true, callers)
}

/** The scope denies somebody. */
export function someoneDenied(facts: TokenFacts, scope: ScopeName): Condition {
  const view = viewScope(facts, scope)
  return said(facts, view, false, view.memberships)
}

/** The scope says the wanted thing of one of these accounts; `all`: there are no others. */
function said(
  facts: TokenFacts,
  view: ScopeView,
  wanted: boolean,
  memberships: readonly Membership[],
  all = view.listsKnown,
): Condition {
  const { tree } = view
  if (tree === undefined) return unread
  if (memberships.some((one) => saysOf(tree, one) === wanted)) return met
  return all ? movable(facts, view, wanted, memberships) : unread
}

function movable(facts: TokenFacts, view: ScopeView, wanted: boolean, memberships: readonly Membership[]): Condition {
  const admins = findPolicyAdmins(facts)
  const editors = findListEditors(view, wanted, memberships)
  const proven = editors.length > 0 || admins.live.length > 0
  return unmet(dedupe([...editors, ...admins.parties]), view.uncertain || admins.uncertain, proven)
}

/** Nobody can be given tokens at address zero and, from Denim on, at an address of the form of a token. */
export function canReceive(facts: TokenFacts, account: Address): boolean {
  if (account === zeroAddress) return false
  const denim = !facts.fork.fork.known || facts.fork.fork.value === 'denim'
  return !(denim && hasTokenPrefix(account))
}

function receivers(facts: TokenFacts, view: ScopeView): Membership[] {
  return view.memberships.filter(({ accounts }) => accounts?.some((account) => canReceive(facts, account)) ?? true)
}

type Accounts = readonly Address[] | undefined
/** Accounts of which it will be so, and who has a part in that. */
type Way = { after: Accounts; by: Party[] }

/** There are two different ones. */
function apart(a: Accounts, b: Accounts): boolean {
  if (a?.length === 0 || b?.length === 0) return false
  return a?.length !== 1 || b?.length !== 1 || a[0] !== b[0]
}

/** Somebody who is not exempt, and somebody else who may receive: nothing is moved from an account to itself. */
export function someoneSeized(facts: TokenFacts, from?: Membership): Condition {
  const [exempt, destination] = [viewScope(facts, 'SEIZE_EXEMPT_POLICY'), viewScope(facts, 'SEIZE_RECEIVER_POLICY')]
  if (exempt.tree === undefined || destination.tree === undefined) return unread
  const everybody = membershipsOf(facts, exempt.tree, destination.tree)
  const victims = from === undefined ? everybody : [from]
  const goals = everybody.flatMap(({ listed, accounts }): Membership[] => {
    const able = accounts?.filter((account) => canReceive(facts, account))
    return able?.length === 0 ? [] : [{ listed, accounts: able }]
  })
  const sources = accountsNow(exempt.tree, false, victims)
  const targets = accountsNow(destination.tree, true, goals)
  if (apart(sources, targets)) return met
  if (!destination.listsKnown || (from === undefined && !exempt.listsKnown)) return unread
  const enablers: Party[] = []
  for (const taking of waysTo(facts, exempt, false, victims, sources))
    for (const giving of waysTo(facts, destination, true, goals, targets)) {
      if (!apart(taking.after, giving.after)) continue
      if (!apart(sources, giving.after)) enablers.push(...taking.by)
      if (!apart(taking.after, targets)) enablers.push(...giving.by)
    }
  const admins = findPolicyAdmins(facts)
  const uncertain = exempt.uncertain || destination.uncertain || admins.uncertain
  return unmet(dedupe(enablers), uncertain, admins.live.length > 0)
}

// Two are apart from any one: more need not be checked.
const accountsNow = (tree: Tree, wanted: boolean, memberships: readonly Membership[]): Accounts =>
  accountsOf(memberships.filter((one) => saysOf(tree, one) === wanted))?.slice(0, 2)

/** As it is, by changing lists for one more account, or by replacing the policy or all that it combines. */
function waysTo(facts: TokenFacts, view: ScopeView, wanted: boolean, of: readonly Membership[], now: Accounts): Way[] {
  const single = { ...view, controls: view.controls.map((control) => ({ ...control, whole: false })) }
  const byLists = of.flatMap((membership): Way[] => {
    const by = findListEditors(single, wanted, [membership])
    if (by.length === 0) return []
    const ones = membership.accounts?.slice(0, 2)
    return ones?.map((one) => ({ after: now && [...now, one], by })) ?? [{ after: undefined, by }]
  })
  const combiners = view.controls.filter(({ whole }) => whole).map(({ account, how }) => ({ account, how }))
  const replacing = [...findPolicyAdmins(facts).parties, ...combiners]
  const replaced: Way[] = replacing.length === 0 ? [] : [{ after: accountsOf(of), by: replacing }]
  return [{ after: now, by: [] }, ...replaced, ...byLists]
}

export const enablersOf = ({ level, enablers }: Condition): Party[] => (level === 'armed' ? [] : enablers)

/** The supply is below the cap, or can be again: an admin raises the cap, or somebody burns. */
export function belowCap(facts: TokenFacts): Condition {
  const { supplyCap, totalSupply } = facts
  if (!supplyCap.known || !totalSupply.known) return unread
  if (totalSupply.value < supplyCap.value) return met
  const admins = reachOf(facts, adminRole)
  const raisers = supplyCap.value < noSupplyCap ? admins.couldBecome : []
  const burning = totalSupply.value > 0n ? [ownBurning(facts), blockedBurning(facts)] : []
  const enablers = dedupe([
    ...raisers.map(({ account }) => ({ account, how: 'can raise the supply cap' })),
    ...burning
      .filter(({ level }) => level === 'armed' || level === 'latent')
      .flatMap((one) => one.enablers)
      .map(({ account }) => ({ account, how: 'can burn or have burned, which makes room below the cap' })),
  ])
  const uncertain = admins.uncertain || burning.some(({ level }) => level === 'unknown')
  const proven =
    (raisers.length > 0 && admins.holders.length > 0) ||
    burning.some(({ level }) => level === 'armed' || level === 'latent')
  return unmet(enablers, uncertain, proven)
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
    enablers: dedupe(conditions.flatMap(({ enablers }) => enablers)),
  }
}

/** What a scope says of one account, and whether that can be changed. */
export function saidOf(facts: TokenFacts, scope: ScopeName, wanted: boolean, of: Membership): Condition {
  return said(facts, viewScope(facts, scope), wanted, [of], true)
}
