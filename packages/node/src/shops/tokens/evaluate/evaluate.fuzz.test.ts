import { type Address, zeroAddress } from '@assay/protocol/address'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { alwaysBlockId, roleNames, roles, scopeNames } from '../abi/b20.ts'
import { exampleFacts } from '../example.ts'
import { known, type PolicyFacts, type TokenFacts, unknown } from '../facts.ts'
import { evaluate } from './evaluate.ts'
import { powerNames } from './types.ts'

const people: Address[] = [
  '0x1111111111111111111111111111111111111111',
  '0x2222222222222222222222222222222222222222',
  zeroAddress,
]
const blocklist = 2n
const policy: PolicyFacts = {
  id: blocklist,
  exists: known(true),
  admin: known(people[0] as Address),
  pendingAdmin: known(zeroAddress),
  children: known([]),
  members: [people[1] as Address],
  membersComplete: true,
}

type Shape = { grants: [string, number][]; bound: [string, bigint][]; paused: number[] }

const shape: fc.Arbitrary<Shape> = fc.record({
  grants: fc.array(fc.tuple(fc.constantFrom(...roleNames), fc.nat({ max: 2 })), { maxLength: 6 }),
  bound: fc.array(fc.tuple(fc.constantFrom(...scopeNames), fc.constantFrom(0n, blocklist, alwaysBlockId)), {
    maxLength: 4,
  }),
  paused: fc.uniqueArray(fc.nat({ max: 3 }), { maxLength: 2 }),
})

function factsOf({ grants, bound, paused }: Shape): TokenFacts {
  const facts = exampleFacts()
  const held = new Map([...facts.roles].map(([role, value]) => [role, { ...value, holders: [...value.holders] }]))
  for (const [name, index] of grants) {
    const holders = held.get(roles[name as keyof typeof roles])?.holders
    const account = people[index] as Address
    if (holders && !holders.some((one) => one.account === account)) holders.push({ account })
  }
  return {
    ...facts,
    roles: held,
    adminCount: known(BigInt(held.get(roles.DEFAULT_ADMIN_ROLE)?.holders.length ?? 0)),
    scopes: { ...facts.scopes, ...Object.fromEntries(bound.map(([scope, id]) => [scope, known(id)])) },
    policies: new Map([[blocklist, policy]]),
    paused: known([...paused].sort()),
  }
}

const order = { impossible: 0, latent: 1, armed: 2, unknown: 3 }
const cleanliness = { LOCKED: 0, PARTIALLY_CONTROLLED: 1, ISSUER_CONTROLLED: 2, UNKNOWN: 3 }

test('one more grant never makes a token look less controlled', () => {
  fc.assert(
    fc.property(shape, fc.constantFrom(...roleNames), fc.nat({ max: 1 }), (given, role, index) => {
      const before = evaluate(factsOf(given))
      const after = evaluate(factsOf({ ...given, grants: [...given.grants, [role, index]] }))
      expect(cleanliness[after.verdict]).toBeGreaterThanOrEqual(cleanliness[before.verdict])
      for (const name of powerNames)
        expect(order[after.powers[name].now]).toBeGreaterThanOrEqual(order[before.powers[name].now])
    }),
  )
})

type Erase = (facts: TokenFacts) => TokenFacts
const erasers: Erase[] = [
  (facts) => ({ ...facts, adminCount: unknown('unread') }),
  (facts) => ({ ...facts, paused: unknown('disagreement') }),
  (facts) => ({ ...facts, supplyCap: unknown('unread') }),
  (facts) => ({ ...facts, totalSupply: unknown('empty_answer') }),
  (facts) => ({ ...facts, genesis: undefined }),
  (facts) => ({ ...facts, logs: { ...facts.logs, gaps: [{ fromBlock: 1n, toBlock: 2n, reason: 'unread' }] } }),
  (facts) => ({ ...facts, fork: { ...facts.fork, fork: unknown('unread') } }),
  (facts) => ({ ...facts, fork: { ...facts.fork, mismatch: true } }),
  (facts) => ({ ...facts, fork: { ...facts.fork, unreviewed: true } }),
  (facts) => ({ ...facts, multiplier: unknown('garbled') }),
  (facts) => ({ ...facts, contradictions: [{ code: 'cap_differs', detail: '' }] }),
  (facts) => ({ ...facts, unreviewedRoles: ['AUTHORIZED_SPENDER_ROLE'] }),
  (facts) => ({ ...facts, policies: new Map([[blocklist, { ...policy, exists: unknown<boolean>('unread') }]]) }),
  (facts) => ({ ...facts, scopes: { ...facts.scopes, TRANSFER_SENDER_POLICY: unknown('integrity') } }),
  (facts) => ({ ...facts, scopes: { ...facts.scopes, SEIZE_EXEMPT_POLICY: known(9n << 56n) } }),
  (facts) => ({ ...facts, paused: known([7]) }),
]

test('a fact that is not known is never clean', () => {
  fc.assert(
    fc.property(shape, fc.constantFrom(...erasers), (given, erase) => {
      const before = evaluate(factsOf(given))
      const after = evaluate(erase(factsOf(given)))
      expect(after.complete).toBe(false)
      expect(after.missing.length).toBeGreaterThan(0)
      expect(before.verdict === 'ISSUER_CONTROLLED' ? 'ISSUER_CONTROLLED' : 'UNKNOWN').toBe(after.verdict)
    }),
  )
})

test('a bound sender policy alone does not make a token seizable; the seize scope has the reverse polarity', () => {
  const adminless = (bound: Shape['bound'], grants: Shape['grants']) =>
    evaluate(factsOf({ grants, bound, paused: [] })).powers
  expect(adminless([['TRANSFER_SENDER_POLICY', blocklist]], []).seize.now).toBe('impossible')
  expect(adminless([['TRANSFER_SENDER_POLICY', blocklist]], [['SEIZE_ROLE', 0]]).seize.now).toBe('impossible')
  expect(adminless([['SEIZE_EXEMPT_POLICY', alwaysBlockId]], [['SEIZE_ROLE', 0]]).seize.now).toBe('armed')
  expect(adminless([['TRANSFER_SENDER_POLICY', blocklist]], [['BURN_BLOCKED_ROLE', 0]]).burn_blocked.now).toBe('armed')
})
