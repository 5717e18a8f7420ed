import { type Address, zeroAddress } from '@assay/protocol/address'
import { describe, expect, test } from 'vitest'
import { alwaysBlockId, factoryAddress, invertBit, policyRegistryAddress, roles, scopes } from '../abi/b20.ts'
import { known } from '../facts.ts'
import { evaluate } from './evaluate.ts'
import { alice, bob, type Changes, carol, factsWith, policyWith } from './facts.fixture.ts'

const dave: Address = `0x${'dd'.repeat(20)}`
const [block, allow, union, intersect] = [2n, (1n << 56n) | 3n, (2n << 56n) | 4n, (3n << 56n) | 5n] as const
const powers = (changes: Changes) => evaluate(factsWith(changes)).powers
const accounts = (parties: { account: Address }[]) => parties.map(({ account }) => account).sort()
const fork = (name: 'beryl' | 'cobalt' | 'denim') => ({ ...factsWith({}).fork, fork: known(name) })

describe('who can freeze without the others is decided by what the lists say', () => {
  const alone = (id: bigint, children: bigint[], lists: ReturnType<typeof policyWith>[]) =>
    Object.fromEntries(
      powers({
        scopes: { TRANSFER_SENDER_POLICY: known(id) },
        policies: [policyWith(id & ~invertBit, { children: known(children) }), ...lists],
      }).freeze.who.map((party) => [party.account, party.alone]),
    )

  test('beside an empty list that nobody can change, one party suffices', () => {
    expect(alone(union, [block, allow], [policyWith(block, { admin: known(dave) }), policyWith(allow)])).toEqual({
      [dave]: true,
    })
  })

  test('anybody who is not on the allowlist of a union depends on its blocklist alone', () => {
    const lists = [
      policyWith(block, { admin: known(dave) }),
      policyWith(allow, { admin: known(bob), members: [alice] }),
    ]
    expect(alone(union, [block, allow], lists)).toEqual({ [dave]: true, [bob]: false })
  })

  test('negated intersections alike', () => {
    const lists = [
      policyWith(block, { admin: known(dave) }),
      policyWith(allow, { admin: known(bob), members: [alice] }),
    ]
    // Allowed: who is on the blocklist or not on the allowlist. Nobody is on dave's list whom he could take off.
    expect(alone(intersect | invertBit, [block, allow], lists)).toEqual({ [bob]: true })
    lists[0] = policyWith(block, { admin: known(dave), members: [carol] })
    expect(alone(intersect | invertBit, [block, allow], lists)).toEqual({ [bob]: true, [dave]: false })
  })

  test('a list that decides nothing gives no power', () => {
    const other = 6n
    const lists = [policyWith(block), policyWith(other, { admin: known(dave) })]
    expect(alone(union, [block, other], lists)).toEqual({})
  })

  test('one list twice is one list', () => {
    const lists = [policyWith(block, { admin: known(dave) })]
    expect(alone(union, [block, block | invertBit], lists)).toEqual({})
    expect(alone(intersect, [block, block], lists)).toEqual({ [dave]: true })
  })
})

describe('a latent power names everybody who has a part in bringing it about', () => {
  test('those who can lift a pause, also through a role that administers itself', () => {
    const paused = { holders: { MINT_ROLE: [alice], UNPAUSE_ROLE: [bob] }, paused: known([1]) }
    expect(accounts(powers(paused).mint.couldBecome)).toEqual([alice, bob])
    const self = { ...paused, roleAdmins: { UNPAUSE_ROLE: known(roles.UNPAUSE_ROLE) } }
    expect(accounts(powers(self).mint.couldBecome)).toEqual([alice, bob])
    expect(powers(self).mint.who).toEqual([])
  })

  test('the admins of the lists of a scope, and those who can bind another', () => {
    const seize = powers({
      holders: { DEFAULT_ADMIN_ROLE: [alice], SEIZE_ROLE: [bob] },
      scopes: { SEIZE_EXEMPT_POLICY: known(block) },
      policies: [policyWith(block, { admin: known(carol), pendingAdmin: known(dave) })],
    }).seize
    expect([seize.now, accounts(seize.couldBecome)]).toEqual(['latent', [alice, bob, carol, dave]])
  })

  test('those who can make room below a cap', () => {
    const full = { holders: { MINT_ROLE: [alice] }, supplyCap: known(1_000_000n) }
    expect(powers(full).mint.now).toBe('impossible')
    const burner = powers({ ...full, holders: { MINT_ROLE: [alice], BURN_ROLE: [bob] } }).mint
    expect([burner.now, accounts(burner.couldBecome)]).toEqual(['latent', [alice, bob]])
    const stuck = { ...full, holders: { MINT_ROLE: [alice], BURN_ROLE: [bob] }, paused: known([2]) }
    expect(powers(stuck).mint.now).toBe('impossible')
  })
})

describe('what a party did with a power is counted', () => {
  const used = (events: Changes['events'], more: Changes = {}) => powers({ ...more, ...(events ? { events } : {}) })

  test('binding policies and giving roles away count for the admin, stepping down does not', () => {
    const events: Changes['events'] = [
      { kind: 'policy_updated', scope: scopes.MINT_RECEIVER_POLICY, oldId: 0n, newId: 2n },
      {
        kind: 'role_admin_changed',
        role: roles.MINT_ROLE,
        previousAdmin: roles.DEFAULT_ADMIN_ROLE,
        newAdmin: roles.BURN_ROLE,
      },
      { kind: 'role_revoked', role: roles.PAUSE_ROLE, account: bob, sender: bob },
      // Given by a holder of BURN_ROLE: not the admin's doing.
      { kind: 'role_granted', role: roles.MINT_ROLE, account: bob, sender: carol },
    ]
    expect(used(events).admin.exercised).toBe(2)
  })

  test('metadata counts further entries; a change of the multiplier counts once', () => {
    expect(used([{ kind: 'extra_metadata_updated', key: 'isin', value: 'x' }]).metadata.exercised).toBe(1)
    const change: Changes['events'] = [
      { kind: 'ui_multiplier_cancelled', value: 1n, effectiveAt: 9n },
      { kind: 'multiplier_updated', value: 2n },
      { kind: 'ui_multiplier_updated', oldValue: 1n, newValue: 2n, effectiveAt: 5n },
    ]
    expect(used(change).multiplier.exercised).toBe(1)
  })

  test('tokens that were made and burned again were made', () => {
    const empty = { totalSupply: known(0n) }
    expect(used(undefined, { ...empty, minted: known(true) }).mint.exercised).toBe(1)
    expect(used(undefined, { ...empty, minted: known(false) }).mint.exercised).toBe(0)
  })
})

describe('an admin that can never call does not control', () => {
  const token = factsWith({}).token
  const other: Address = '0xb200000000000000000001eeeeeeeeeeeeeeeeee'

  test.each([
    ['the token itself', token],
    ['the factory', factoryAddress],
    ['the policy registry', policyRegistryAddress],
    ['another token', other],
  ] as const)('%s', (_what, account) => {
    const evaluated = evaluate(
      factsWith({ holders: { DEFAULT_ADMIN_ROLE: [account] }, accounts: [[other, { kind: 'token' }]] }),
    )
    expect([evaluated.verdict, evaluated.powers.admin.now]).toEqual(['LOCKED', 'impossible'])
    expect(evaluated.unreachable).toEqual([
      { account, reason: expect.stringMatching(/token|factory|registry/), holds: ['DEFAULT_ADMIN_ROLE'] },
    ])
  })

  test('an address that only looks like a token may have a key', () => {
    const evaluated = evaluate(
      factsWith({ holders: { DEFAULT_ADMIN_ROLE: [other] }, accounts: [[other, { kind: 'eoa' }]] }),
    )
    expect([evaluated.verdict, evaluated.unreachable]).toEqual(['ISSUER_CONTROLLED', []])
  })

  test('a list administered by address zero or native code is fixed', () => {
    const scoped = {
      scopes: { TRANSFER_SENDER_POLICY: known(block) },
      policies: [policyWith(block, { admin: known(factoryAddress) })],
    }
    expect(evaluate(factsWith(scoped)).verdict).toBe('LOCKED')
  })
})

describe('armed means now', () => {
  const taker = { holders: { SEIZE_ROLE: [alice], BURN_BLOCKED_ROLE: [bob] } }

  test('an empty blocklist that nobody can change denies nobody, ever', () => {
    const lists = { policies: [policyWith(block)] }
    const scope = { SEIZE_EXEMPT_POLICY: known(block), TRANSFER_SENDER_POLICY: known(block) }
    const { seize, burn_blocked, freeze } = powers({ ...taker, ...lists, scopes: scope })
    expect([seize.now, burn_blocked.now, freeze.now]).toEqual(['impossible', 'impossible', 'impossible'])
  })

  test('an empty allowlist receives nothing', () => {
    const lists = { policies: [policyWith(allow)] }
    const minting = { holders: { MINT_ROLE: [alice] }, scopes: { MINT_RECEIVER_POLICY: known(allow) } }
    expect(powers({ ...minting, ...lists }).mint.now).toBe('impossible')
    const governed = { policies: [policyWith(allow, { admin: known(carol) })] }
    expect(powers({ ...minting, ...governed }).mint.now).toBe('latent')
  })

  test('nothing is seized into the account it is taken from, nor into a token', () => {
    const scope = { SEIZE_EXEMPT_POLICY: known(block), SEIZE_RECEIVER_POLICY: known(allow) }
    const to = (account: Address) =>
      powers({
        ...taker,
        scopes: scope,
        policies: [policyWith(block, { members: [bob] }), policyWith(allow, { members: [account] })],
      }).seize.now
    expect([to(bob), to(carol), to('0xb200000000000000000001eeeeeeeeeeeeeeeeee'), to(zeroAddress)]).toEqual([
      'impossible',
      'armed',
      'impossible',
      'impossible',
    ])
  })

  test('a list that was not read whole leaves open what it denies', () => {
    const lists = { policies: [policyWith(block, { membersComplete: false })] }
    const evaluated = evaluate(factsWith({ ...taker, ...lists, scopes: { SEIZE_EXEMPT_POLICY: known(block) } }))
    expect([evaluated.complete, evaluated.missing[0]?.code, evaluated.powers.seize.now]).toEqual([
      false,
      'list_unread',
      'unknown',
    ])
  })
})

test('before Denim the executor policy keeps nobody from sending', () => {
  const stopped = { scopes: { TRANSFER_EXECUTOR_POLICY: known(alwaysBlockId) } }
  const flags = (name: 'cobalt' | 'denim') =>
    evaluate(factsWith({ ...stopped, fork: fork(name) })).flags.map(({ code }) => code)
  expect(flags('cobalt')).not.toContain('transfers_blocked_for_all')
  expect(flags('denim')).toContain('transfers_blocked_for_all')
  const governed = {
    scopes: { TRANSFER_EXECUTOR_POLICY: known(block) },
    policies: [policyWith(block, { admin: known(carol) })],
  }
  expect(powers({ ...governed, fork: fork('cobalt') }).freeze.now).toBe('impossible')
  expect(powers({ ...governed, fork: fork('denim') }).freeze.now).toBe('armed')
})
