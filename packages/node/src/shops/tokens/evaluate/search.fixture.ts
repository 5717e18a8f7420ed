import {
  admitted,
  allowAll,
  another,
  type Call,
  capMax,
  everybody,
  keyOf,
  type List,
  nobody,
  people,
  perform,
  type Ref,
  role,
  type State,
  scope,
  stranger,
  tokenItself,
  untouched,
} from './search-model.fixture.ts'
import { type Act, partOf, reaches, remember } from './search-parts.fixture.ts'
import type { PowerName } from './types.ts'

/** What everybody can do from a state, found by trying it: no rule about powers is used here. */
export type Found = {
  now: 'armed' | 'latent' | 'impossible'
  who: Set<number>
  /** Everybody else with an act that is needed in some way of bringing it about. */
  partners: Set<number>
}

const blockAll: Ref = { list: 'block', not: false }

/** Calls that are a use of the power, by any caller. */
function uses(s: State, power: PowerName): Call[] {
  switch (power) {
    case 'admin':
      return [{ do: 'bind', scope: 0, ref: allowAll }]
    case 'supply_cap':
      return [{ do: 'cap', cap: capMax }]
    case 'mint':
      return everybody.map((to) => ({ do: 'mint', to }))
    case 'seize':
      return everybody.flatMap((from) => everybody.map((to): Call => ({ do: 'seize', from, to })))
    case 'burn_blocked':
      return everybody.map((from) => ({ do: 'burnBlocked', from }))
    case 'pause':
      return [{ do: 'pause', feature: 0 }]
    case 'unpause':
      return [{ do: 'unpause', feature: 0 }]
    case 'metadata':
      return [{ do: 'rename' }]
    case 'multiplier':
      return s.stablecoin ? [] : [{ do: 'multiply' }]
    case 'freeze':
      return []
  }
}

function usersOf(s: State, power: PowerName, among: readonly number[] = people): number[] {
  if (power === 'freeze') return among.filter((one) => canFreeze(s, one))
  const calls = uses(s, power)
  return among.filter((caller) => calls.some((call) => perform(s, caller, call) !== undefined))
}

const roleFor: Partial<Record<PowerName, number>> = {
  mint: role.MINT,
  seize: role.SEIZE,
  burn_blocked: role.BURN_BLOCKED,
  pause: role.PAUSE,
  unpause: role.UNPAUSE,
  metadata: role.METADATA,
  multiplier: role.OPERATOR,
}
const featuresFor: Partial<Record<PowerName, number[]>> = { mint: [1, 2], seize: [3], burn_blocked: [2] }

/** Scopes that keep holders from sending or receiving. */
export const freezing = (s: State): number[] => (s.fork === 3 ? [0, 1, 2] : [0, 1])

/** The scopes that a use asks: the first account of a use is asked about in the first one. */
function placesFor(s: State, power: PowerName): number[] {
  const names: Partial<Record<PowerName, string[]>> = {
    mint: ['MINT_RECEIVER_POLICY', 'TRANSFER_SENDER_POLICY'],
    seize: ['SEIZE_EXEMPT_POLICY', 'SEIZE_RECEIVER_POLICY'],
    burn_blocked: ['TRANSFER_SENDER_POLICY'],
  }
  return power === 'freeze' ? freezing(s) : (names[power] ?? []).map((name) => scope[name] as number)
}

/** Accounts of every kind that the lists tell apart; seizing needs two, which may be of one kind. */
function differing(s: State, ofEach: number): number[] {
  const kinds = new Map<string, number[]>()
  for (const one of everybody) {
    if (one === untouched) continue
    const own = one === tokenItself || one === nobody ? one : 'ordinary'
    const kind = `${own} ${s.lists.map(({ members }) => (members >> one) & 1).join('')}`
    kinds.set(kind, [...(kinds.get(kind) ?? []), one])
  }
  return [
    ...new Set(
      [stranger, another].slice(0, ofEach).concat([...kinds.values()].flatMap((ones) => ones.slice(0, ofEach))),
    ),
  ]
}

const leavesOf = (s: State, ref: Ref): number[] => {
  if (typeof ref.list === 'string') return []
  const top = s.lists[ref.list] as List
  if (top.type < 2) return [ref.list]
  return [...new Set(top.children.flatMap(({ list }) => (typeof list === 'number' ? [list] : [])))]
}

/** Changes of the lists that a bound policy follows, by those who administer them or may take them over. */
function listActs(s: State, ref: Ref, accounts: readonly number[]): Act[] {
  if (typeof ref.list === 'string') return []
  const top = s.lists[ref.list] as List
  const leaves = leavesOf(s, ref)
  const acts: Act[] = []
  for (const list of new Set([ref.list, ...leaves])) {
    const { admin, pending } = s.lists[list] as List
    if (people.includes(pending as never)) acts.push({ by: pending, call: { do: 'finalize', list } })
    for (const by of new Set([admin, pending].filter((one) => people.includes(one as never))))
      if (leaves.includes(list))
        for (const who of accounts)
          acts.push({ by, call: { do: 'list', list, who, on: (((s.lists[list] as List).members >> who) & 1) === 0 } })
      else if (top.type > 1)
        // The two last lists of every state are an empty blocklist and an empty allowlist that nobody administers.
        for (const child of [s.lists.length - 2, s.lists.length - 1])
          acts.push({
            by,
            call: { do: 'combine', list, children: [child, child].map((one) => ({ list: one, not: false })) },
          })
  }
  return acts
}

/** Everybody has taken the roles that they can give themselves. */
function grown(s: State, acts: readonly Act[]): State {
  let state = s
  for (let before: State | undefined; before !== state; ) {
    before = state
    for (const { by, call } of acts) if (call?.do === 'grant') state = perform(state, by, call) ?? state
  }
  return state
}

/** Everything that somebody could do to prepare a use: taking roles, lifting pauses, lists, policies, making room. */
function actsFor(s: State, power: PowerName): Act[] {
  const chain = new Set([roleFor[power] ?? role.ADMIN, role.ADMIN])
  if (featuresFor[power] !== undefined) chain.add(role.UNPAUSE)
  if (power === 'mint') for (const r of [role.BURN, role.BURN_BLOCKED]) chain.add(r)
  for (const r of chain) chain.add(s.roleAdmins[r] as number)
  const grants = people.flatMap((by) => [...chain].map((r): Act => ({ by, call: { do: 'grant', role: r, to: by } })))
  const after = grown(s, grants)
  const taken = grants.filter(({ by, call }) => {
    const r = call?.do === 'grant' ? call.role : 0
    return ((((s.roles[r] as number) ^ (after.roles[r] as number)) >> by) & 1) === 1
  })
  const places = placesFor(s, power)
  const wished: Call[] = (featuresFor[power] ?? []).map((feature) => ({ do: 'unpause', feature }))
  for (const place of places) for (const ref of [allowAll, blockAll]) wished.push({ do: 'bind', scope: place, ref })
  if (power === 'mint') wished.push({ do: 'cap', cap: capMax })
  const others = wished.flatMap((call) =>
    people.filter((by) => ![undefined, after].includes(perform(after, by, call))).map((by): Act => ({ by, call })),
  )
  if (power === 'mint')
    for (const by of people) {
      if (((after.roles[role.BURN] as number) >> by) & 1) others.push({ by, call: { do: 'burn' } })
      if (((after.roles[role.BURN_BLOCKED] as number) >> by) & 1)
        others.push({
          by,
          call: { do: 'burnBlocked', from: untouched },
          or: differing(s, 1).map((from): Call => ({ do: 'burnBlocked', from })),
        })
    }
  const lists = places.flatMap((place) => listActs(s, s.scopes[place] as Ref, differing(s, power === 'seize' ? 2 : 1)))
  return [...taken, ...others, ...lists]
}

/** A use asks each scope about one account, so no more than that many have to be moved on lists. */
function movedAtOnce(s: State, power: PowerName, acts: readonly Act[]): ((act: Act) => boolean)[] {
  const [first = [], second = []] = placesFor(s, power).map((place) => leavesOf(s, s.scopes[place] as Ref))
  const moved = acts.flatMap(({ call }) => (call?.do === 'list' ? [call] : []))
  const among = (leaves: readonly number[]) => {
    const found = [...new Set(moved.filter(({ list }) => leaves.includes(list)).map(({ who }) => who))]
    return found.length === 0 ? [untouched] : found
  }
  if (power === 'freeze')
    return [...new Set([untouched, ...moved.map(({ who }) => who)])].map(
      (one) =>
        ({ call }: Act) =>
          call?.do !== 'list' || call.who === one,
    )
  return among(first).flatMap((a) =>
    among(second).map(
      (b) =>
        ({ call }: Act) =>
          call?.do !== 'list' ||
          (call.who === a && first.includes(call.list)) ||
          (call.who === b && second.includes(call.list)),
    ),
  )
}

export function search(s: State, power: PowerName): Found {
  const who = new Set(usersOf(s, power))
  const others = people.filter((one) => !who.has(one))
  const wins = (held: readonly Act[]): boolean => {
    const users = held.filter(({ call }) => call === undefined).map(({ by }) => by)
    if (users.length === 0) return false
    const done = (state: State) => usersOf(state, power, users).length > 0
    const start = grown(s, held)
    const steps = held.filter(({ call }) => call !== undefined && call.do !== 'grant')
    return movedAtOnce(s, power, steps).some((fits) => reaches(start, steps.filter(fits), done))
  }
  const prepared = actsFor(s, power)
  const users = others.map((by): Act => ({ by })).filter((use) => wins([use, ...prepared]))
  const acts = users.length === 0 ? [] : [...users, ...prepared]
  const tried = remember(acts, wins)
  const partners = new Set(others.filter((one) => partOf(one, acts, tried)))
  return { now: who.size > 0 ? 'armed' : users.length > 0 ? 'latent' : 'impossible', who, partners }
}

type Freezing = { one: number; acts: readonly Act[]; wins: (held: readonly Act[]) => boolean }

/**
 * The ways in which somebody could freeze: changing lists so that somebody is stopped who was not; where everybody is
 * stopped, letting somebody go again, which an admin can do too. Binding another policy only prepares it.
 */
function* freezingBy(s: State, among: readonly number[]): Generator<Freezing> {
  for (const place of freezing(s)) {
    const ref = s.scopes[place] as Ref
    const all = everybody.every((one) => !admitted(s, ref, one))
    const admins = among.filter((one) => ((s.roles[role.ADMIN] as number) >> one) & 1)
    if (all) for (const one of admins) yield { one, acts: [{ by: one }], wins: (held) => held.length > 0 }
    for (const account of differing(s, 1)) {
      if (admitted(s, ref, account) === all) continue
      const acts = listActs(s, ref, [account])
      const wins = remember(acts, (held) => reaches(s, held, (state) => admitted(state, ref, account) === all))
      for (const one of among) if (acts.some(({ by }) => by === one)) yield { one, acts, wins }
    }
  }
}

const known = new Map<string, boolean>()

function canFreeze(s: State, one: number): boolean {
  const roles = [(s.roles[role.ADMIN] as number) & (1 << one)]
  const key = `${one} ${s.fork} ${keyOf({ ...s, roles, paused: 0, supply: 0, cap: 0 })}`
  const before = known.get(key)
  if (before !== undefined) return before
  if (known.size > 50_000) known.clear()
  let found = false
  for (const { acts, wins } of freezingBy(s, [one])) found ||= partOf(one, acts, wins)
  known.set(key, found)
  return found
}

/** Who can freeze, and whether alone. */
export function freezersOf(s: State): ReadonlyMap<number, boolean> {
  const found = new Map<number, boolean>()
  for (const { one, acts, wins } of freezingBy(s, people))
    if (partOf(one, acts, wins)) {
      const alone = wins(acts.filter(({ by }) => by === one))
      found.set(one, alone || found.get(one) === true)
    }
  return found
}
