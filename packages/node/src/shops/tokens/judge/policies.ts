import { type Address, zeroAddress } from '@assay/protocol/address'
import type { ScopeName } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import { decodePolicyId, type PolicyId } from '../policy-id.ts'
import type { Party } from './types.ts'

/** What a bound policy can do to accounts, and who decides it. */
export type PolicyEffect = {
  /** `nobody`: it lets everybody through for good; `everybody`: it stops everybody; `some`: it can stop somebody. */
  denies: 'nobody' | 'some' | 'everybody' | 'unknown'
  /** Those who can change whom it denies, without the token's admin. */
  parties: Party[]
  /** Some part of the tree could not be read. */
  uncertain: boolean
}

/** An unset scope lets everybody through. */
const openToAll: PolicyEffect = { denies: 'nobody', parties: [], uncertain: false }

export function scopeEffect(facts: TokenFacts, scope: ScopeName): PolicyEffect {
  const bound = facts.scopes[scope]
  if (bound === undefined) return openToAll
  if (!bound.known) return { denies: 'unknown', parties: [], uncertain: true }
  return policyEffect(facts, bound.value)
}

/** Somebody may still change what a bound policy says. */
export function canStillChange(facts: TokenFacts, scope: ScopeName): boolean {
  const effect = scopeEffect(facts, scope)
  return effect.parties.length > 0 || effect.uncertain
}

function policyEffect(facts: TokenFacts, id: bigint): PolicyEffect {
  const policy = decodePolicyId(id)
  if (policy.builtIn !== undefined) {
    const lets = (policy.builtIn === 'always_allow') !== policy.inverted
    return { denies: lets ? 'nobody' : 'everybody', parties: [], uncertain: false }
  }
  const read = facts.policies.get(policy.base)
  if (read === undefined || policy.kind === undefined || !read.exists.known || !read.children.known)
    return { denies: 'unknown', parties: partiesOf(facts, policy.base), uncertain: true }
  // What a policy that does not exist answers is not settled between the documents: it is no permission.
  if (!read.exists.value) return { denies: 'unknown', parties: [], uncertain: true }
  const children = read.children.value.map((child) => policyEffect(facts, child))
  return {
    denies: 'some',
    parties: dedupe([...partiesOf(facts, policy.base), ...childParties(policy, children)]),
    uncertain: !read.admin.known || !read.pendingAdmin.known || children.some((child) => child.uncertain),
  }
}

/**
 * One child's admin alone can deny an account where a single child decides: all must say yes (intersect), or none may
 * (an inverted union). Otherwise the other children must deny it too, unless the same party has them all.
 */
function childParties(policy: PolicyId, children: readonly PolicyEffect[]): Party[] {
  const oneDecides = (policy.kind === 'intersect') !== policy.inverted
  return children
    .flatMap((child) => child.parties)
    .map((party) => ({
      ...party,
      alone: oneDecides || children.every((child) => child.parties.some(({ account }) => account === party.account)),
    }))
}

function partiesOf(facts: TokenFacts, base: bigint): Party[] {
  const policy = facts.policies.get(base)
  if (policy === undefined) return []
  const parties: Party[] = []
  const add = (account: Address, how: string) => {
    if (account !== zeroAddress) parties.push({ account, how, alone: true })
  }
  if (policy.admin.known) add(policy.admin.value, `administers policy ${base}`)
  if (policy.pendingAdmin.known) add(policy.pendingAdmin.value, `may take over policy ${base} at any time`)
  return parties
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
