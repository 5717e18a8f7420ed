import fc from 'fast-check'
import { adminRole, scopeNames } from '../abi/b20.ts'
import { type PolicyFacts, type TokenFacts, unknown } from '../facts.ts'

/** Takes something away that a reader may fail to read. */
export type Hole = (facts: TokenFacts) => TokenFacts

export function withPolicy(facts: TokenFacts, id: bigint, change: Partial<PolicyFacts>): TokenFacts {
  const old = facts.policies.get(id)
  return old === undefined ? facts : { ...facts, policies: new Map([...facts.policies, [id, { ...old, ...change }]]) }
}

const ofPolicy =
  (place: number, change: (policy: PolicyFacts) => Partial<PolicyFacts>): Hole =>
  (facts) => {
    const [id, policy] = [...facts.policies][place % Math.max(1, facts.policies.size)] ?? []
    return id === undefined || policy === undefined ? facts : withPolicy(facts, id, change(policy))
  }

/** A holder is a candidate whose view was not answered. */
const holderUnread =
  (place: number): Hole =>
  (facts) => {
    const held = [...facts.roles.values()].filter(({ role, holders }) => role !== adminRole && holders.length > 0)
    const role = held[place % Math.max(1, held.length)]
    const [first, ...holders] = role?.holders ?? []
    if (role === undefined || first === undefined) return facts
    const changed = { ...role, holders, unreadPairs: [first.account] }
    return { ...facts, roles: new Map([...facts.roles, [role.role, changed]]) }
  }

export const hole: fc.Arbitrary<Hole> = fc.oneof(
  fc.constantFrom(...scopeNames).map(
    (name): Hole =>
      (facts) => ({ ...facts, scopes: { ...facts.scopes, [name]: unknown('unread') } }),
  ),
  fc.constantFrom('paused', 'supplyCap', 'totalSupply', 'adminCount').map(
    (name): Hole =>
      (facts) => ({ ...facts, [name]: unknown('disagreement') }),
  ),
  fc
    .nat({ max: 5 })
    .map((place) => ofPolicy(place, ({ members }) => ({ members: members.slice(1), membersComplete: false }))),
  fc.nat({ max: 5 }).map((place) => ofPolicy(place, () => ({ admin: unknown('unread') }))),
  fc.nat({ max: 5 }).map((place) => ofPolicy(place, () => ({ exists: unknown('unread') }))),
  fc.nat({ max: 9 }).map(holderUnread),
  fc.constant(
    (facts: TokenFacts): TokenFacts => ({
      ...facts,
      logs: { ...facts.logs, gaps: [{ fromBlock: 1n, toBlock: 2n, reason: 'limit' }] },
    }),
  ),
)
