import { type Address, zeroAddress } from '../../kernel/address.ts'
import type { ScopeName } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import { decodePolicyId } from '../policy-id.ts'
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
    parties: dedupe([...partiesOf(facts, policy.base), ...children.flatMap((child) => child.parties)]),
    uncertain: !read.admin.known || !read.pendingAdmin.known || children.some((child) => child.uncertain),
  }
}

function partiesOf(facts: TokenFacts, base: bigint): Party[] {
  const policy = facts.policies.get(base)
  if (policy === undefined) return []
  const parties: Party[] = []
  const add = (account: Address, how: string) => {
    if (account !== zeroAddress) parties.push({ account, how })
  }
  if (policy.admin.known) add(policy.admin.value, `administers policy ${base}`)
  if (policy.pendingAdmin.known) add(policy.pendingAdmin.value, `may take over policy ${base} at any time`)
  return parties
}

function dedupe(parties: readonly Party[]): Party[] {
  return parties.filter((party, i) => parties.findIndex(({ account }) => account === party.account) === i)
}
