import { type Address, zeroAddress } from '@assay/protocol/address'
import { describe, expect, test } from 'vitest'
import { invertBit, type ScopeName } from '../abi/b20.ts'
import { exampleFacts } from '../example.ts'
import { known, type PolicyFacts, type TokenFacts } from '../facts.ts'
import { evaluate } from './evaluate.ts'

const [alice, bob, carol] = ['aa', 'bb', 'cc'].map((byte) => `0x${byte.repeat(20)}` as Address) as [
  Address,
  Address,
  Address,
]
const [blocklist, second, union, intersect] = [2n, 3n, (2n << 56n) | 4n, (3n << 56n) | 5n] as const
const dave: Address = `0x${'dd'.repeat(20)}`

const policy = (
  id: bigint,
  admin: Address,
  children: readonly bigint[] = [],
  members: readonly Address[] = [],
): PolicyFacts => ({
  id,
  exists: known(true),
  admin: known(admin),
  pendingAdmin: known(zeroAddress),
  children: known(children),
  members,
  membersComplete: true,
})

function bound(scope: ScopeName, id: bigint, ...policies: PolicyFacts[]): TokenFacts {
  const facts = exampleFacts()
  return {
    ...facts,
    scopes: { ...facts.scopes, [scope]: known(id) },
    policies: new Map(policies.map((one) => [one.id, one])),
  }
}

describe('who can freeze through a composite policy', () => {
  const children = [policy(blocklist, alice, [], [dave]), policy(second, bob, [], [dave])]
  const who = (id: bigint, composite: PolicyFacts, parts = children) =>
    Object.fromEntries(
      evaluate(bound('TRANSFER_SENDER_POLICY', id, composite, ...parts)).powers.freeze.who.map((party) => [
        party.account,
        party.alone,
      ]),
    )

  test('an intersection denies as soon as one child does: each admin alone', () => {
    const composite = policy(intersect, carol, [blocklist, second])
    expect(who(intersect, composite)).toEqual({ [alice]: true, [bob]: true, [carol]: true })
  })

  test('a union denies only if all children do: their admins together, the composite admin alone', () => {
    const composite = policy(union, carol, [blocklist, second])
    expect(who(union, composite)).toEqual({ [alice]: false, [bob]: false, [carol]: true })
  })

  test('inversion swaps the two', () => {
    const [or, and] = [policy(union, carol, [blocklist, second]), policy(intersect, carol, [blocklist, second])]
    expect(who(union | invertBit, or)).toEqual({ [alice]: true, [bob]: true, [carol]: true })
    expect(who(intersect | invertBit, and)).toEqual({ [alice]: false, [bob]: false, [carol]: true })
  })

  test('an admin of every child needs nobody else', () => {
    const composite = policy(union, zeroAddress, [blocklist, second])
    expect(who(union, composite, [policy(blocklist, alice), policy(second, alice)])).toEqual({ [alice]: true })
  })
})

describe('locked', () => {
  test.each([
    'MINT_RECEIVER_POLICY',
    'SEIZE_EXEMPT_POLICY',
    'SEIZE_RECEIVER_POLICY',
    'TRANSFER_RECEIVER_POLICY',
  ] as const)('a token whose %s somebody can still change is not locked', (scope) => {
    const evaluated = evaluate(bound(scope, blocklist, policy(blocklist, alice)))
    expect([evaluated.complete, evaluated.verdict]).toEqual([true, 'PARTIALLY_CONTROLLED'])
    const renounced = evaluate(bound(scope, blocklist, policy(blocklist, zeroAddress)))
    expect([renounced.complete, renounced.verdict]).toEqual([true, 'LOCKED'])
  })

  test('a renounced composite is not frozen while a child can change', () => {
    const composite = policy(intersect, zeroAddress, [blocklist])
    const live = bound('TRANSFER_SENDER_POLICY', intersect, composite, policy(blocklist, alice))
    const dead = bound('TRANSFER_SENDER_POLICY', intersect, composite, policy(blocklist, zeroAddress))
    expect([evaluate(live).verdict, evaluate(dead).verdict]).toEqual(['PARTIALLY_CONTROLLED', 'LOCKED'])
  })
})
