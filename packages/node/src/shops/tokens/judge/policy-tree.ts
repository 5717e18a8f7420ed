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
export type Standing = { listed: ReadonlySet<bigint>; accounts: readonly Address[] | undefined }

const onNoList: Standing = { listed: new Set(), accounts: undefined }

/** Everybody there is, grouped by the lists they are on: those on none, and those that the lists name. */
export function standingsOf(facts: TokenFacts, tree: Tree): Standing[] {
  const bases = basesOf(tree)
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

/** Whether an account can be brought to the wanted answer by changing only the lists of these parties. */
function canMake(tree: Tree, standing: Standing, wanted: boolean, parties: readonly Control[]): boolean {
  if (tree.kind === 'fixed') return tree.allows === wanted
  if (parties.some(({ whole }) => whole)) return true
  const free = basesOf(tree).filter((base) => parties.some(({ bases }) => bases.has(base)))
  for (let choice = 0; choice < 1 << free.length; choice += 1) {
    const listed = (base: bigint) => {
      const place = free.indexOf(base)
      return place < 0 ? standing.listed.has(base) : ((choice >> place) & 1) === 1
    }
    if (allows(tree, listed) === wanted) return true
  }
  return false
}

export type Mover = { control: Control; alone: boolean }

// Four lists and their combination have at most ten admins and successors.
const partiesMax = 10

/** Who can bring one of these accounts to the wanted answer, alone or together with others, by changing lists. */
export function moversOf(
  tree: Tree,
  standings: readonly Standing[],
  wanted: boolean,
  controls: readonly Control[],
): Mover[] {
  const others = standings.filter(({ listed }) => allows(tree, (base) => listed.has(base)) !== wanted)
  const able = (parties: readonly Control[]) => others.some((standing) => canMake(tree, standing, wanted, parties))
  if (!able(controls)) return []
  return controls.slice(0, partiesMax).flatMap((control): Mover[] => {
    if (able([control])) return [{ control, alone: true }]
    return isNeeded(control, controls, others, (standing, parties) => canMake(tree, standing, wanted, parties))
      ? [{ control, alone: false }]
      : []
  })
}

/** Somebody is needed where a group that fails without them succeeds with them. */
function isNeeded(
  control: Control,
  controls: readonly Control[],
  standings: readonly Standing[],
  can: (standing: Standing, parties: readonly Control[]) => boolean,
): boolean {
  const rest = controls.filter((one) => one !== control).slice(0, partiesMax - 1)
  for (let choice = 1; choice < 1 << rest.length; choice += 1) {
    const group = rest.filter((_, place) => ((choice >> place) & 1) === 1)
    if (standings.some((standing) => !can(standing, group) && can(standing, [...group, control]))) return true
  }
  return false
}
