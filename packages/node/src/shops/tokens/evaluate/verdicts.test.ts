import { describe, expect, test } from 'vitest'
import { draftRoles, noSupplyCap } from '../abi/b20.ts'
import { known, unknown } from '../facts.ts'
import { decodePolicyId, isComposite } from '../policy-id.ts'
import { evaluate } from './evaluate.ts'
import expected from './evaluated-cases.json' with { type: 'json' }
import { alice, bob, carol, dead, evaluated, factsWith, policyWith } from './facts.fixture.ts'
import { dedupe } from './policies.ts'
import { policyCases } from './policy-cases.fixture.ts'
import { largestSupply } from './powers.ts'
import { needsBoth, worst } from './reach.ts'
import { roleCases } from './role-cases.fixture.ts'
import { stateCases } from './state-cases.fixture.ts'
import type { Level } from './types.ts'

const cases = Object.entries({ ...roleCases, ...policyCases, ...stateCases })

test('every case has its evaluation written down, and no evaluation is left over', () => {
  expect(cases.map(([name]) => name).sort()).toEqual(Object.keys(expected).sort())
})

describe('evaluations', () => {
  test.each(cases)('%s', (name, changes) => {
    expect(evaluated(changes)).toEqual((expected as Record<string, unknown>)[name])
  })
})

describe('what is missing is named', () => {
  const missing = (changes: Parameters<typeof factsWith>[0]) => evaluated(changes).missing

  test('more admins than storage counts, or fewer', () => {
    const admins = { holders: { DEFAULT_ADMIN_ROLE: [alice] } }
    expect(missing({ ...admins, adminCount: known(0n) })).toEqual(['admin_count_integrity'])
    expect(missing({ ...admins, adminCount: known(2n) })).toEqual(['admin_missing'])
  })

  test('a bound policy of which nothing was read, which is never taken for harmless', () => {
    const { verdict, missing: named } = evaluated({ scopes: { TRANSFER_SENDER_POLICY: known(2n) }, policies: [] })
    expect([verdict, named]).toEqual(['UNKNOWN', ['policy_unread']])
  })

  test('an unread supply beside an armed minter, who is not called capped', () => {
    const { verdict, flags } = evaluated({ holders: { MINT_ROLE: [alice] }, totalSupply: unknown('unread') })
    expect(verdict).toBe('UNKNOWN')
    expect(flags[0]).toBe('critical incomplete: supply_unread')
    expect(flags.some((flag) => flag.includes('mint_capped'))).toBe(false)
  })

  test('a draft role that somebody holds is shown', () => {
    const facts = factsWith({})
    const [name, role] = Object.entries(draftRoles)[0] as [string, `0x${string}`]
    const held = { role, admin: known(role), holders: [{ account: bob }], unreadPairs: [] }
    const { flags } = evaluate({ ...facts, roles: new Map([...facts.roles, [role, held]]) })
    expect(flags.find(({ code }) => code === 'draft_role_held')?.facts).toEqual([`roles.${name}`])
  })

  test('a multiplier that will change is reported with its numbers and its time', () => {
    const { flags } = evaluate(factsWith(stateCases['a multiplier that will change'] ?? {}))
    const sentence = flags.find(({ code }) => code === 'multiplier_scheduled')?.sentence
    expect(sentence).toContain('from 1 to 1.5 times the raw ones at 2027-01-15T08:00:00.000Z')
  })
})

describe('sentences', () => {
  const sentenceOf = (changes: Parameters<typeof factsWith>[0], code: string) =>
    evaluate(factsWith(changes)).flags.find((flag) => flag.code === code)?.sentence

  test('of a power say whether, and when', () => {
    const why = (changes: Parameters<typeof factsWith>[0]) => evaluate(factsWith(changes)).powers.unpause.why
    expect(why({ holders: { UNPAUSE_ROLE: [alice] } })).toBe('Somebody can lift a pause now.')
    expect(why({ holders: { DEFAULT_ADMIN_ROLE: [alice] } })).toBe(
      'Nobody can lift a pause now, but somebody can bring it about.',
    )
    expect(why({ genesis: undefined })).toBe('Whether anybody can lift a pause is not known.')
    expect(why({})).toBe('Nobody can lift a pause, now or later.')
  })

  test('count how often tokens were taken', () => {
    const seized = { kind: 'seized' as const, caller: bob, from: alice, to: bob, amount: 1n }
    expect(sentenceOf({ events: [seized] }, 'has_seized')).toBe('Tokens were seized once.')
    expect(sentenceOf({ events: [seized, seized] }, 'has_seized')).toBe('Tokens were seized 2 times.')
  })

  test('say whom a seizer can reach', () => {
    const of = (name: string) => sentenceOf(roleCases[name] ?? {}, 'seizable_unless_listed')
    expect(of('a seizer where nobody is exempt')).toContain('nobody is exempt')
    expect(of('a seizer where those on a list are exempt')).toContain('not on a list of exempt ones')
  })

  test('say how policies are combined', () => {
    const of = (name: string) => sentenceOf(policyCases[name] ?? {}, 'composite_policy')
    expect(of('frozen through a combination')).toContain(
      'combines 3 others: it names an account as allowed only if all',
    )
    const either = sentenceOf(roleCases['a seizer under a combined policy'] ?? {}, 'composite_policy')
    expect(either).toContain('combines 2 others: it names an account as allowed if one of them does')
  })
})

test('a child that nobody has read leaves it open who can freeze', () => {
  const composite = policyWith((3n << 56n) | 5n, { children: known([2n]) })
  const { powers } = evaluate(
    factsWith({ scopes: { TRANSFER_SENDER_POLICY: known(composite.id) }, policies: [composite] }),
  )
  expect(powers.freeze.now).toBe('unknown')
})

describe('levels', () => {
  const levels: Level[] = ['impossible', 'latent', 'unknown', 'armed']

  test('the worst of several is the later one in this order', () => {
    for (const [i, a] of levels.entries())
      for (const [j, b] of levels.entries()) expect(worst(a, b)).toBe(levels[Math.max(i, j)])
    expect(worst()).toBe('impossible')
  })

  test('where both are needed the weaker one decides', () => {
    for (const one of levels) {
      expect(needsBoth('impossible', one)).toBe('impossible')
      expect(needsBoth(one, 'impossible')).toBe('impossible')
      if (one === 'impossible') continue
      expect(needsBoth('unknown', one)).toBe('unknown')
      expect(needsBoth(one, 'unknown')).toBe('unknown')
    }
    expect(needsBoth('armed', 'armed')).toBe('armed')
    expect(needsBoth('armed', 'latent')).toBe('latent')
    expect(needsBoth('latent', 'armed')).toBe('latent')
  })
})

test('the largest supply is the cap only where nobody can raise it', () => {
  const cap = known(5_000_000n)
  expect(largestSupply(factsWith({ supplyCap: cap }))).toBe(1_000_000n)
  expect(largestSupply(factsWith({ supplyCap: cap, holders: { MINT_ROLE: [alice] } }))).toBe(5_000_000n)
  const admin = { holders: { DEFAULT_ADMIN_ROLE: [alice], MINT_ROLE: [alice] } }
  expect(largestSupply(factsWith({ supplyCap: cap, ...admin }))).toBe(noSupplyCap)
  expect(largestSupply(factsWith({ supplyCap: unknown('unread') }))).toBeUndefined()
  expect(largestSupply(factsWith({ totalSupply: unknown('unread') }))).toBeUndefined()
  expect(largestSupply(factsWith({ genesis: undefined }))).toBeUndefined()
  const minter = { holders: { MINT_ROLE: [alice] } }
  expect(largestSupply(factsWith({ ...minter, adminCount: unknown('unread') }))).toBeUndefined()
})

test('an id is taken apart into flag, kind and number', () => {
  const id = (3n << 56n) | 5n
  expect(decodePolicyId(id | (1n << 63n))).toEqual({
    id: id | (1n << 63n),
    inverted: true,
    base: id,
    kind: 'intersect',
    builtIn: undefined,
  })
  const kinds = [0n, 1n, 2n, 3n, 4n].map((kind) => decodePolicyId((kind << 56n) | 9n))
  expect(kinds.map(({ kind }) => kind)).toEqual(['blocklist', 'allowlist', 'union', 'intersect', undefined])
  expect(kinds.map(isComposite)).toEqual([false, false, true, true, false])
  expect(decodePolicyId(0n).builtIn).toBe('always_allow')
  expect(decodePolicyId((1n << 56n) | 1n).builtIn).toBe('always_block')
})

test('of one party named twice the way without others is kept', () => {
  const [alone, together] = [
    { account: alice, how: 'a', alone: true },
    { account: alice, how: 'b', alone: false },
  ]
  const other = { account: bob, how: 'c' }
  expect(dedupe([together, other, alone])).toEqual([alone, other])
  expect(dedupe([alone, together])).toEqual([alone])
  expect(dedupe([together, { ...together, how: 'd' }])).toEqual([together])
})

test('who can do what is said in words', () => {
  const { powers } = evaluate(
    factsWith({
      holders: { DEFAULT_ADMIN_ROLE: [alice], MINT_ROLE: [bob] },
      scopes: { TRANSFER_SENDER_POLICY: known(2n) },
      policies: [policyWith(2n, { admin: known(bob), pendingAdmin: known(carol) })],
    }),
  )
  expect(powers.mint.who).toEqual([{ account: bob, how: 'holds MINT_ROLE' }])
  expect(powers.mint.couldBecome).toEqual([{ account: alice, how: 'can grant MINT_ROLE through DEFAULT_ADMIN_ROLE' }])
  expect(powers.freeze.who).toEqual([
    { account: bob, how: 'administers policy 2', alone: true },
    { account: carol, how: 'may take over policy 2 at any time', alone: true },
  ])
  expect(powers.freeze.couldBecome).toEqual([{ account: alice, how: 'can bind another policy' }])
  expect(dead).toMatch(/dead$/)
})
