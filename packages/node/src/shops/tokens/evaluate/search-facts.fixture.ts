import { type Address, zeroAddress } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { keccak256 } from '@assay/till/kernel/keccak'
import fc from 'fast-check'
import {
  alwaysBlockId,
  invertBit,
  noSupplyCap,
  roleNames,
  roles,
  type ScopeName,
  scopeNames,
  scopes,
} from '../abi/b20.ts'
import { exampleFacts } from '../example.ts'
import { known, type PolicyFacts, type TokenFacts } from '../facts.ts'
import type { ControlChange } from '../read/decode-events.ts'
import {
  allowAll,
  allRoles,
  type Call,
  capMax,
  customRole,
  everybody,
  type List,
  nobody,
  people,
  perform,
  type Ref,
  type State,
  tokenItself,
} from './search-model.fixture.ts'
import type { PowerName } from './types.ts'

export const roleHashes: Hex[] = [...roleNames.map((name) => roles[name]), toHex(keccak256(Buffer.from('CUSTOM_ROLE')))]

export const addressOf = (who: number): Address =>
  who === tokenItself
    ? exampleFacts().token
    : who === nobody
      ? zeroAddress
      : (`0x${String(who + 1).repeat(40)}` as Address)

const idOf = ({ type }: List, place: number) => (BigInt(type) << 56n) | BigInt(place + 2)
export const refId = (s: State, { list, not }: Ref, ofList = idOf): bigint => {
  const base = list === 'allow' ? 0n : list === 'block' ? alwaysBlockId : ofList(s.lists[list] as List, list)
  return not ? base | invertBit : base
}
const membersOf = (mask: number): Address[] => everybody.filter((who) => ((mask >> who) & 1) === 1).map(addressOf)

/** How often each power was used, counted while it was used. */
export type Uses = Record<PowerName, number>
export type History = {
  state: State
  events: ControlChange[]
  /** The first ones were written by the creation. */
  born: number
  used: Uses
  minted: boolean
}

/** What the reader would find of a state; lists that the token does not follow are not read. */
export function factsOf({ state: s, events, born, minted }: History): TokenFacts {
  const base = exampleFacts()
  const creation = base.genesis?.transaction as Hex
  const bound = new Set<number>()
  for (const { list } of s.scopes) if (typeof list === 'number') bound.add(list)
  for (const list of bound)
    for (const child of (s.lists[list] as List).children) if (typeof child.list === 'number') bound.add(child.list)
  const policies = [...bound].map((place): PolicyFacts => {
    const list = s.lists[place] as List
    return {
      id: idOf(list, place),
      exists: known(true),
      admin: known(addressOf(list.admin)),
      pendingAdmin: known(addressOf(list.pending)),
      children: known(list.children.map((child) => refId(s, child))),
      members: membersOf(list.members),
      membersComplete: true,
    }
  })
  const scopeOf = (name: ScopeName, i: number) =>
    s.fork === 1 && name.startsWith('SEIZE_') ? undefined : known(refId(s, s.scopes[i] as Ref))
  return {
    ...base,
    variant: s.stablecoin ? 'stablecoin' : 'asset',
    currency: s.stablecoin ? known('USD') : undefined,
    multiplier: s.stablecoin ? undefined : base.multiplier,
    fork: { ...base.fork, fork: known((['beryl', 'cobalt', 'denim'] as const)[s.fork - 1] ?? 'denim') },
    totalSupply: known(BigInt(s.supply)),
    supplyCap: known(s.cap === capMax ? noSupplyCap : BigInt(s.cap)),
    minted: known(minted),
    paused: known([0, 1, 2, 3].filter((n) => ((s.paused >> n) & 1) === 1)),
    scopes: Object.fromEntries(scopeNames.map((name, i) => [name, scopeOf(name, i)])) as TokenFacts['scopes'],
    adminCount: known(BigInt(membersOf(s.roles[0] as number).length)),
    roles: new Map(
      roleHashes.map((hash, r) => [
        hash,
        {
          role: hash,
          admin: known(roleHashes[s.roleAdmins[r] as number] as Hex),
          holders: membersOf(s.roles[r] as number).map((account) => ({ account })),
          unreadPairs: [],
        },
      ]),
    ),
    policies: new Map(policies.map((policy) => [policy.id, policy])),
    events: events.map((event, i) => ({
      ...event,
      blockNumber: BigInt(i + 1),
      blockHash: '0x' as Hex,
      transaction: i < born ? creation : (`0x${(i + 1).toString(16).padStart(64, '0')}` as Hex),
      logIndex: 0,
    })),
  }
}

type Begun = {
  fork: 1 | 2 | 3
  stablecoin: boolean
  admins: number
  holders: number[]
  roleAdmins: number[]
  lists: {
    type: 0 | 1 | 2 | 3
    admin: number
    pending: number
    members: number
    children: { place: number; not: boolean }[]
  }[]
  scopes: { place: number; not: boolean }[]
  paused: number
  supply: number
  cap: number
}

/** A token as its creation may leave it: what the factory did there is no use of a power. */
export function begin(given: Begun): History {
  const { fork, stablecoin } = given
  const list = (type: 0 | 1): List => ({ type, admin: nobody, pending: nobody, members: 0, children: [] })
  const none = { admin: 0, mint: 0, seize: 0, burn_blocked: 0, freeze: 0, pause: 0, unpause: 0 }
  const history: History = {
    state: {
      fork,
      stablecoin,
      roles: allRoles.map((r) => (r === 0 ? given.admins : (given.holders[r] ?? 0))),
      roleAdmins: allRoles.map((r) => given.roleAdmins[r] ?? 0),
      scopes: scopeNames.map(() => allowAll),
      lists: [list(0), list(1)],
      paused: fork === 1 ? given.paused & 7 : given.paused,
      supply: given.supply,
      cap: given.cap,
    },
    events: [],
    born: 0,
    used: { ...none, supply_cap: 0, metadata: 0, multiplier: 0 },
    minted: given.supply > 0,
  }
  for (const [r, admin] of history.state.roleAdmins.entries())
    if (admin !== 0)
      history.events.push({
        kind: 'role_admin_changed',
        role: roleHashes[r] as Hex,
        previousAdmin: roleHashes[0] as Hex,
        newAdmin: roleHashes[admin] as Hex,
      })
  history.born = history.events.length
  for (const one of given.lists) addList(history, one)
  const s = history.state
  const bound = s.scopes.map((ref, i) =>
    i >= 4 && fork === 1 ? ref : refIn(s, given.scopes[i] ?? { place: 4, not: false }),
  )
  history.state = { ...s, scopes: bound }
  return history
}

function addList(history: History, { type, admin, pending, members, children: refs }: Begun['lists'][number]): void {
  const s = history.state
  if (s.lists.length >= 6 || (type > 1 && s.fork < 2)) return
  const children = refs
    .map((one) => refIn(s, one))
    .filter(({ list }) => typeof list === 'number' && (s.lists[list] as List).type < 2)
  if (type > 1 && children.length < 2) return
  const simple = type < 2
  create(history, { type, admin, pending, members: simple ? members & 63 : 0, children: simple ? [] : children })
}

/** A new list goes before the two last ones, which the search needs. */
function create(history: History, list: List): void {
  const s = history.state
  const at = s.lists.length - 2
  const moved = (ref: Ref): Ref =>
    typeof ref.list === 'number' && ref.list >= at ? { ...ref, list: ref.list + 1 } : ref
  const lists = s.lists.map((one) => ({ ...one, children: one.children.map(moved) }))
  history.state = { ...s, lists: [...lists.slice(0, at), list, ...lists.slice(at)], scopes: s.scopes.map(moved) }
}

/** Plays a call; what succeeds leaves the log that the chain would write, and is counted as a use. */
function play(history: History, caller: number, call: Call): void {
  const before = history.state
  const after = perform(before, caller, call)
  if (after === undefined) return
  history.state = after
  const sender = addressOf(caller)
  const { used } = history
  const log = (event: ControlChange) => history.events.push(event)
  switch (call.do) {
    case 'grant':
    case 'revoke':
    case 'renounce': {
      if (after.roles.join() === before.roles.join()) return
      const to = call.do === 'renounce' ? caller : call.to
      if (call.do !== 'renounce' && before.roleAdmins[call.role] === 0 && !(call.do === 'revoke' && to === caller))
        used.admin += 1
      const kind = call.do === 'grant' ? 'role_granted' : 'role_revoked'
      return void log({ kind, role: roleHashes[call.role] as Hex, account: addressOf(to), sender })
    }
    case 'renounceLastAdmin':
      log({ kind: 'role_revoked', role: roleHashes[0] as Hex, account: sender, sender })
      return void log({ kind: 'last_admin_renounced', previousAdmin: sender })
    case 'setRoleAdmin': {
      const previous = before.roleAdmins[call.role] as number
      if (previous === 0) used.admin += 1
      const [previousAdmin, newAdmin] = [roleHashes[previous] as Hex, roleHashes[call.admin] as Hex]
      return void log({ kind: 'role_admin_changed', role: roleHashes[call.role] as Hex, previousAdmin, newAdmin })
    }
    case 'pause':
    case 'unpause':
      used[call.do] += 1
      return void log({ kind: `${call.do}d`, updater: sender, features: [call.feature] })
    case 'bind': {
      used.admin += 1
      const scope = scopes[scopeNames[call.scope] as ScopeName]
      const [oldId, newId] = [refId(before, before.scopes[call.scope] as Ref), refId(after, call.ref)]
      return void log({ kind: 'policy_updated', scope, oldId, newId })
    }
    case 'cap':
      used.admin += 1
      used.supply_cap += 1
      return void log({ kind: 'supply_cap_updated', updater: sender, oldCap: 0n, newCap: 0n })
    case 'mint':
      history.minted = true
      return
    case 'seize':
      used.seize += 1
      return void log({
        kind: 'seized',
        caller: sender,
        from: addressOf(call.from),
        to: addressOf(call.to),
        amount: 0n,
      })
    case 'burnBlocked':
      used.burn_blocked += 1
      return void log({ kind: 'burned_blocked', caller: sender, from: addressOf(call.from), amount: 0n })
    case 'rename':
      used.metadata += 1
      return void log({ kind: 'name_updated', updater: sender, text: 'x' })
    case 'multiply':
      used.multiplier += 1
      return void log({ kind: 'multiplier_updated', value: 1n })
    default:
  }
}

/** Somebody makes a call, or a list appears. */
export type Move = { caller: number; call: (s: State) => Call } | { list: Begun['lists'][number] }

export function applyStep(history: History, move: Move): void {
  if ('list' in move) addList(history, move.list)
  else play(history, move.caller, move.call(history.state))
}

const who = fc.constantFrom(...people)
const target = fc.constantFrom(...people, tokenItself, nobody)
const anyRole = fc.constantFrom(...allRoles)
const ref = fc.record({ place: fc.nat({ max: 5 }), not: fc.boolean() })
const refIn = (s: State, { place, not }: { place: number; not: boolean }): Ref => {
  const list = place === 4 ? 'allow' : place === 5 ? 'block' : place < s.lists.length - 2 ? place : 'allow'
  return { list, not: not && s.fork === 3 }
}
const called = (build: fc.Arbitrary<(s: State) => Call>): fc.Arbitrary<Move> =>
  fc.tuple(who, build).map(([caller, call]): Move => ({ caller, call }))
const fixed = <T extends Call>(arbitrary: fc.Arbitrary<T>) => called(arbitrary.map((call) => () => call))

const party = fc.constantFrom(...people, nobody, nobody, tokenItself)
const list: fc.Arbitrary<Begun['lists'][number]> = fc.record({
  type: fc.constantFrom(0, 0, 1, 1, 2, 3) as fc.Arbitrary<0 | 1 | 2 | 3>,
  admin: party,
  pending: fc.constantFrom(nobody, nobody, nobody, nobody, 1, tokenItself),
  members: fc.constantFrom(0, 0, 1, 2, 4, 5, 16, 35, 63),
  children: fc.array(fc.record({ place: fc.nat({ max: 1 }), not: fc.boolean() }), { minLength: 2, maxLength: 3 }),
})
const newList: fc.Arbitrary<Move> = list.map((one): Move => ({ list: one }))

export const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fixed(fc.record({ do: fc.constant('grant' as const), role: anyRole, to: target })) },
  { weight: 2, arbitrary: fixed(fc.record({ do: fc.constant('revoke' as const), role: anyRole, to: target })) },
  fixed(fc.record({ do: fc.constant('renounce' as const), role: anyRole })),
  fixed(fc.record({ do: fc.constant('renounceLastAdmin' as const) })),
  fixed(
    fc.record({ do: fc.constant('setRoleAdmin' as const), role: anyRole, admin: fc.constantFrom(0, 1, 2, customRole) }),
  ),
  {
    weight: 2,
    arbitrary: fixed(
      fc.record({ do: fc.constantFrom('pause' as const, 'unpause' as const), feature: fc.nat({ max: 3 }) }),
    ),
  },
  fixed(fc.record({ do: fc.constant('cap' as const), cap: fc.constantFrom(1, 2, capMax) })),
  fixed(fc.record({ do: fc.constant('mint' as const), to: target })),
  fixed(fc.record({ do: fc.constantFrom('burn' as const, 'rename' as const, 'multiply' as const) })),
  fixed(fc.record({ do: fc.constant('burnBlocked' as const), from: target })),
  fixed(fc.record({ do: fc.constant('seize' as const), from: target, to: target })),
  { weight: 4, arbitrary: newList },
  {
    weight: 5,
    arbitrary: called(
      fc.tuple(fc.nat({ max: 5 }), ref).map(
        ([place, one]) =>
          (s): Call => ({ do: 'bind', scope: place, ref: refIn(s, one) }),
      ),
    ),
  },
  fixed(fc.record({ do: fc.constant('list' as const), list: fc.nat({ max: 3 }), who: target, on: fc.boolean() })),
  fixed(fc.record({ do: fc.constant('stage' as const), list: fc.nat({ max: 3 }), to: target })),
  fixed(fc.record({ do: fc.constantFrom('finalize' as const, 'renounceList' as const), list: fc.nat({ max: 3 }) })),
)

const holders = fc.constantFrom(0, 0, 0, 0, 1, 2, 4, 6, 16)
const begun: fc.Arbitrary<Begun> = fc.record({
  fork: fc.constantFrom(1, 2, 3, 3) as fc.Arbitrary<1 | 2 | 3>,
  stablecoin: fc.boolean(),
  // Nobody, one, two, the token itself, address zero.
  admins: fc.constantFrom(0, 0, 0, 1, 1, 3, 1 << tokenItself, 1 << nobody),
  holders: fc.array(holders, { minLength: allRoles.length, maxLength: allRoles.length }),
  roleAdmins: fc.array(fc.constantFrom(0, 0, 0, 0, 1, customRole, 5), { minLength: 11, maxLength: 11 }),
  lists: fc.array(list, { minLength: 1, maxLength: 4 }),
  scopes: fc.array(fc.record({ place: fc.constantFrom(0, 1, 2, 3, 4, 4, 4, 5), not: fc.boolean() }), {
    minLength: 6,
    maxLength: 6,
  }),
  paused: fc.constantFrom(0, 0, 0, 1, 2, 4, 8, 15),
  supply: fc.constantFrom(0, 1, 1),
  cap: fc.constantFrom(1, capMax, capMax),
})

export const history: fc.Arbitrary<History> = fc
  .tuple(begun, fc.array(move, { maxLength: 12 }))
  .map(([given, moves]) => {
    const history = begin(given)
    for (const one of moves) applyStep(history, one)
    return history
  })
