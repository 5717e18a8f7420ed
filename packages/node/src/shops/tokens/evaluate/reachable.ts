import { type Address, zeroAddress } from '@assay/protocol/address'
import { activationRegistryAddress, factoryAddress, policyRegistryAddress, roleLabel } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import type { UnreachableParty } from './types.ts'

export type Unreachable = 'zero_address' | 'this_token' | 'another_token' | 'factory' | 'registry'

/** Why an account can never call anything: native code that starts no calls, or no account at all. */
export function unreachableReason(facts: TokenFacts, account: Address): Unreachable | undefined {
  if (account === zeroAddress) return 'zero_address'
  if (account === facts.token) return 'this_token'
  if (account === factoryAddress) return 'factory'
  if (account === policyRegistryAddress || account === activationRegistryAddress) return 'registry'
  // The form of the address alone is no proof: only a created token has native code there.
  const label = facts.accounts.get(account)
  return label?.known && label.value.kind === 'token' ? 'another_token' : undefined
}

export const isReachable = (facts: TokenFacts, account: Address): boolean =>
  unreachableReason(facts, account) === undefined

/** Who has a role or a list and can never use it. A renounced list belongs to nobody and is not among them. */
export function unreachableParties(facts: TokenFacts): UnreachableParty[] {
  const found = new Map<Address, UnreachableParty>()
  const add = (account: Address, what: string) => {
    const reason = unreachableReason(facts, account)
    if (reason === undefined) return
    const party = found.get(account) ?? { account, reason, holds: [] }
    party.holds.push(what)
    found.set(account, party)
  }
  for (const { role, holders } of facts.roles.values()) for (const { account } of holders) add(account, roleLabel(role))
  for (const { id, admin } of facts.policies.values())
    if (admin.known && admin.value !== zeroAddress) add(admin.value, `policy ${id}`)
  return [...found.values()]
}

/** Nobody is known to have the key; that is a presumption and never makes anything impossible. */
export function isPresumedDead(facts: TokenFacts, account: Address): boolean {
  const label = facts.accounts.get(account)
  return label?.known === true && label.value.kind === 'presumed_dead'
}
