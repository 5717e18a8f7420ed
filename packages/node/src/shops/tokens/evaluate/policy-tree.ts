import { type Address, zeroAddress } from '@assay/protocol/address'
import type { TokenFacts } from '../facts.ts'
import { decodePolicyId, isComposite } from '../policy-id.ts'
import { isReachable } from './reachable.ts'

/** One list of a policy and what being on it means there. */
type Leaf = { base: bigint; allowsListed: boolean }

/** A bound policy as an expression over lists. */
export type Tree =
  | { kind: 'fixed'; allows: boolean }
  | { kind: 'lists'; leaves: Leaf[]; all: boolean; inverted: boolean; composite: bigint | undefined }

/** Undefined where it could not be read, does not exist or is of a kind that nobody here has reviewed. */
export function treeOf(facts: TokenFacts, id: bigint): Tree | undefined {
  const policy = decodePolicyId(id)
  if (policy.builtIn !== undefined)
    return { kind: 'fixed', allows: (policy.builtIn === 'always_allow') !== policy.inverted }
  const read = facts.policies.get(policy.base)
  // What a policy that does not exist answers is not settled between the documents: it is no permission.
  if (read === undefined || !read.exists.known || !read.exists.value || !read.children.known) return undefined
  const composite = isComposite(policy)
  const leaves = (composite ? read.children.value : [policy.base]).map((child) => leafOf(facts, child))
  if (!leaves.every((leaf) => leaf !== undefined)) return undefined
  return {
    kind: 'lists',
    leaves,
    all: policy.kind === 'intersect',
    inverted: policy.inverted,
    composite: composite ? policy.base : undefined,
  }
}

function leafOf(facts: TokenFacts, id: bigint): Leaf | undefined {
  const { base, kind, inverted, builtIn } = decodePolicyId(id)
  const exists = facts.policies.get(base)?.exists
  if (builtIn !== undefined || !exists?.known || !exists.value) return undefined
  if (kind !== 'blocklist' && kind !== 'allowlist') return undefined
  return { base, allowsListed: (kind === 'allowlist') !== inverted }
}

type Listed = (base: bigint) => boolean

export function allows(tree: Tree, listed: Listed): boolean {
  if (tree.kind === 'fixed') return tree.allows
  const says = (leaf: Leaf) => listed(leaf.base) === leaf.allowsListed
  return (tree.all ? tree.leaves.every(says) : tree.leaves.some(says)) !== tree.inverted
}

export const basesOf = (tree: Tree): bigint[] =>
  tree.kind === 'fixed' ? [] : [...new Set(tree.leaves.map(({ base }) => base))]

/** Accounts on exactly these lists. Without accounts: all the others, of which there is no end. */
export type Membership = { listed: ReadonlySet<bigint>; accounts: readonly Address[] | undefined }

const onNoList: Membership = { listed: new Set(), accounts: undefined }

/** Everybody there is, grouped by the lists they are on: those on none, and those that the lists name. */
export function membershipsOf(facts: TokenFacts, ...trees: readonly Tree[]): Membership[] {
  const bases = new Set(trees.flatMap(basesOf))
  const listedOn = new Map<Address, bigint[]>()
  for (const base of bases)
    for (const account of facts.policies.get(base)?.members ?? [])
      listedOn.set(account, [...(listedOn.get(account) ?? []), base])
  const groups = new Map<string, { listed: Set<bigint>; accounts: Address[] }>()
  for (const [account, lists] of listedOn) {
    const group = groups.get(lists.join()) ?? { listed: new Set(lists), accounts: [] }
    group.accounts.push(account)
    groups.set(lists.join(), group)
  }
  return [onNoList, ...groups.values()]
}

/** Somebody who can change a list of a tree, or all of the tree. */
export type Control = { account: Address; how: string; bases: ReadonlySet<bigint>; whole: boolean }

/** Those who administer a list of the tree or may take it over at any time. Those who can never call are left out. */
export function controlsOf(facts: TokenFacts, tree: Tree): { controls: Control[]; uncertain: boolean } {
  const found = new Map<Address, { account: Address; how: string; bases: Set<bigint>; whole: boolean }>()
  let uncertain = false
  const add = (account: Address, how: string, base: bigint, whole: boolean) => {
    if (account === zeroAddress || !isReachable(facts, account)) return
    const control = found.get(account) ?? { account, how, bases: new Set<bigint>(), whole: false }
    control.bases.add(base)
    control.whole ||= whole
    found.set(account, control)
  }
  const composite = tree.kind === 'lists' ? tree.composite : undefined
  for (const base of [...(composite === undefined ? [] : [composite]), ...basesOf(tree)]) {
    const policy = facts.policies.get(base)
    if (!policy?.admin.known || !policy.pendingAdmin.known) uncertain = true
    if (policy?.admin.known) add(policy.admin.value, `administers policy ${base}`, base, base === composite)
    if (policy?.pendingAdmin.known)
      add(policy.pendingAdmin.value, `may take over policy ${base} at any time`, base, base === composite)
  }
  return { controls: [...found.values()], uncertain }
}

export type ListEditor = { control: Control; alone: boolean }

/**
 * Who can bring one of these accounts to the wanted answer by changing lists, alone or with others: those who can make
 * a change that is needed in some way of doing it.
 */
export function listEditorsOf(
  tree: Tree,
  memberships: readonly Membership[],
  wanted: boolean,
  controls: readonly Control[],
): ListEditor[] {
  if (tree.kind === 'fixed') return []
  const others = memberships.filter(({ listed }) => allows(tree, (base) => listed.has(base)) !== wanted)
  const open = basesOf(tree).filter((base) => controls.some(({ bases }) => bases.has(base)))
  const ways = others.flatMap((membership) => minimalChanges(tree, membership, wanted, open))
  return controls.flatMap((control): ListEditor[] => {
    const own = (base: bigint) => control.bases.has(base)
    // The admin of a combination replaces all that it combines.
    if ((control.whole && others.length > 0) || ways.some((way) => way.every(own))) return [{ control, alone: true }]
    return ways.some((way) => way.some(own)) ? [{ control, alone: false }] : []
  })
}

/** The sets of lists that bring an account to the wanted answer when it changes sides on all of them and on no fewer. */
function minimalChanges(tree: Tree, { listed }: Membership, wanted: boolean, open: readonly bigint[]): bigint[][] {
  const choices = Array.from({ length: 1 << open.length }, (_, choice) => choice)
  const works = (choice: number) =>
    allows(tree, (base) => listed.has(base) !== (open.includes(base) && ((choice >> open.indexOf(base)) & 1) === 1)) ===
    wanted
  const working = choices.filter(works)
  const least = working.filter((one) => !working.some((other) => other !== one && (other & one) === other))
  return least.map((choice) => open.filter((_, place) => ((choice >> place) & 1) === 1))
}
