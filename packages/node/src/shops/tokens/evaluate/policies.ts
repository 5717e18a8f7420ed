import type { Address } from '@assay/protocol/address'
import { adminRole, type ScopeName, scopeNames } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import {
  allows,
  basesOf,
  type Control,
  controlsOf,
  type ListEditor,
  listEditorsOf,
  type Membership,
  membershipsOf,
  type Tree,
  treeOf,
} from './policy-tree.ts'
import { isLive, reachOf } from './reach.ts'
import { isPresumedDead } from './reachable.ts'
import type { Party } from './types.ts'

/** What a scope says of everybody at this block, and who can make it say something else. */
export type ScopeView = {
  /** Undefined: what is bound could not be read. */
  tree: Tree | undefined
  memberships: readonly Membership[]
  controls: readonly Control[]
  /** Every list of it was read whole. */
  listsKnown: boolean
  /** Somebody may be missing from the controls. */
  uncertain: boolean
}

const openToAll: Tree = { kind: 'fixed', allows: true }
const unreadView: ScopeView = { tree: undefined, memberships: [], controls: [], listsKnown: false, uncertain: true }

/** A scope that this fork does not have lets everybody through. */
export function viewScope(facts: TokenFacts, scope: ScopeName): ScopeView {
  const bound = facts.scopes[scope]
  if (bound !== undefined && !bound.known) return unreadView
  const tree = bound === undefined ? openToAll : treeOf(facts, bound.value)
  if (tree === undefined) return unreadView
  return {
    tree,
    memberships: membershipsOf(facts, tree),
    ...controlsOf(facts, tree),
    listsKnown: basesOf(tree).every((base) => facts.policies.get(base)?.membersComplete === true),
  }
}

/** `some`: it stops somebody and lets somebody through. */
export type Denies = 'nobody' | 'some' | 'everybody' | 'unknown'

export function deniesOf({ tree, memberships, listsKnown }: ScopeView): Denies {
  if (tree === undefined) return 'unknown'
  const answers = new Set(memberships.map(({ listed }) => allows(tree, (base) => listed.has(base))))
  if (answers.size === 2) return 'some'
  if (!listsKnown) return 'unknown'
  return answers.has(true) ? 'nobody' : 'everybody'
}

/** Accounts for which the scope gives the wanted answer; undefined if there is no limit to them. */
export function accountsAnswered(view: ScopeView, wanted: boolean): readonly Address[] | undefined {
  const { tree } = view
  return tree === undefined ? [] : accountsOf(view.memberships.filter((one) => saysOf(tree, one) === wanted))
}

export const saysOf = (tree: Tree, { listed }: Membership): boolean => allows(tree, (base) => listed.has(base))

/** Undefined if there is no limit to them. */
export function accountsOf(memberships: readonly Membership[]): readonly Address[] | undefined {
  return memberships.some(({ accounts }) => accounts === undefined)
    ? undefined
    : memberships.flatMap(({ accounts }) => accounts ?? [])
}

/** Accounts that a list keeps out of a scope which lets everybody else through. */
export function namedAndDenied(view: ScopeView): readonly Address[] {
  return accountsAnswered(view, false) ?? []
}

/** Those who can bring one of these accounts to the wanted answer by changing lists. */
export function findListEditors(view: ScopeView, wanted: boolean, memberships = view.memberships): Party[] {
  if (view.tree === undefined) return []
  return listEditorsOf(view.tree, memberships, wanted, view.controls).map(toParty)
}

/** As above, also of accounts that other parties could put on their lists or take off. */
export function findPossibleListEditors(view: ScopeView, wanted: boolean): Party[] {
  const { tree } = view
  if (tree === undefined) return []
  const open = basesOf(tree).filter((base) => view.controls.some(({ bases }) => bases.has(base)))
  const possible = view.memberships.flatMap(({ listed, accounts }) =>
    Array.from({ length: 1 << open.length }, (_, choice) => {
      const changed = open.filter((_base, place) => ((choice >> place) & 1) === 1)
      return { accounts, listed: new Set([...[...listed].filter((base) => !open.includes(base)), ...changed]) }
    }),
  )
  return findListEditors(view, wanted, possible)
}

const toParty = ({ control, alone }: ListEditor): Party => ({ account: control.account, how: control.how, alone })

/** The same without those whom nobody is known to have the key of. */
export function liveView(facts: TokenFacts, view: ScopeView): ScopeView {
  return { ...view, controls: view.controls.filter(({ account }) => !isPresumedDead(facts, account)) }
}

/** Everybody who administers something that the scope follows; `alone`: can change what it says of somebody. */
export function influences(view: ScopeView): Party[] {
  const editors = [...findListEditors(view, false), ...findListEditors(view, true)]
  return view.controls.map(({ account, how }) => ({
    account,
    how,
    alone: editors.some((editor) => editor.account === account && editor.alone === true),
  }))
}

/** Those who can bind a scope to another policy, now or after making themselves admin. */
export function findPolicyAdmins(facts: TokenFacts): { parties: Party[]; live: Party[]; uncertain: boolean } {
  const reach = reachOf(facts, adminRole)
  const how = 'can bind another policy'
  return {
    parties: reach.couldBecome.map(({ account }) => ({ account, how })),
    live: reach.holders.filter((party) => isLive(facts, party)).map(({ account }) => ({ account, how, alone: true })),
    uncertain: reach.uncertain,
  }
}

/** Somebody may still change a list that the token follows. */
export function canStillChange(facts: TokenFacts, scope: ScopeName): boolean {
  const view = viewScope(facts, scope)
  return view.controls.length > 0 || view.uncertain
}

/** Before Denim the executor policy binds only those who move the tokens of others. */
export function freezingScopes(facts: TokenFacts): { scopes: ScopeName[]; executorUncertain: boolean } {
  const { fork } = facts.fork
  const binds = !fork.known || fork.value === 'denim'
  return {
    scopes: scopeNames.filter((name) => name.startsWith('TRANSFER_') && (binds || !name.includes('EXECUTOR'))),
    executorUncertain: !fork.known,
  }
}

export function dedupe(parties: readonly Party[]): Party[] {
  const found: Party[] = []
  for (const party of parties) {
    const same = found.findIndex(({ account }) => account === party.account)
    if (same < 0) found.push(party)
    // Anyone who can do it alone in one way can do it alone.
    else if (party.alone && !found[same]?.alone) found[same] = party
  }
  return found
}
