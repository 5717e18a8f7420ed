import {
  admitted,
  allowAll,
  type Call,
  capMax,
  everybody,
  type List,
  people,
  perform,
  type Ref,
  role,
  type State,
  scope,
  stranger,
} from './search-model.fixture.ts'
import type { PowerName } from './types.ts'

/** What everybody can do from a state, found by trying it: no rule about powers is used here. */
export type Found = {
  now: 'armed' | 'latent' | 'impossible'
  who: Set<number>
  /** Callers of a series of steps of which none can be left out; others may be able to do without some of them. */
  partners: Set<number>
  groups: { callers: number[]; user: number }[]
}

type Step = { caller: number; call: Call }
const depthMax = 3
/** Beyond the three steps only whether it can be reached at all is asked. */
const depthFar = 4

const blockAll: Ref = { list: 'block', not: false }

/** Calls that are a use of the power, whoever makes them. */
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

export const usersOf = (s: State, power: PowerName): number[] =>
  people.filter((caller) => uses(s, power).some((call) => perform(s, caller, call) !== undefined))

const roleFor: Partial<Record<PowerName, number>> = {
  admin: role.ADMIN,
  supply_cap: role.ADMIN,
  mint: role.MINT,
  seize: role.SEIZE,
  burn_blocked: role.BURN_BLOCKED,
  pause: role.PAUSE,
  unpause: role.UNPAUSE,
  metadata: role.METADATA,
  multiplier: role.OPERATOR,
}

const scopesFor: Partial<Record<PowerName, string[]>> = {
  mint: ['MINT_RECEIVER_POLICY', 'TRANSFER_SENDER_POLICY'],
  seize: ['SEIZE_EXEMPT_POLICY', 'SEIZE_RECEIVER_POLICY'],
  burn_blocked: ['TRANSFER_SENDER_POLICY'],
}
const featuresFor: Partial<Record<PowerName, number[]>> = { mint: [1, 2], seize: [3], burn_blocked: [2] }

/** Every call that could prepare a use: taking roles, lifting pauses, binding and changing lists, making room. */
function preparations(s: State, power: PowerName): Call[] {
  const wanted = [roleFor[power] ?? role.ADMIN, role.ADMIN]
  if (featuresFor[power] !== undefined) wanted.push(role.UNPAUSE)
  if (power === 'mint') wanted.push(role.BURN, role.BURN_BLOCKED)
  const chain = new Set(wanted)
  for (const r of chain) chain.add(s.roleAdmins[r] as number)
  const calls: Call[] = [...chain].flatMap((r) => people.map((to): Call => ({ do: 'grant', role: r, to })))
  for (const feature of featuresFor[power] ?? []) calls.push({ do: 'unpause', feature })
  const places = (scopesFor[power] ?? []).map((name) => scope[name] as number)
  for (const place of places) {
    calls.push({ do: 'bind', scope: place, ref: allowAll }, { do: 'bind', scope: place, ref: blockAll })
    calls.push(...listCalls(s, s.scopes[place] as Ref))
  }
  if (power === 'mint') {
    calls.push({ do: 'cap', cap: capMax }, { do: 'burn' })
    calls.push(...everybody.map((from): Call => ({ do: 'burnBlocked', from })))
  }
  return calls
}

/** Changes of the lists that a bound policy follows. */
function listCalls(s: State, ref: Ref): Call[] {
  if (typeof ref.list === 'string') return []
  const top = s.lists[ref.list] as List
  const leaves =
    top.type < 2 ? [ref.list] : top.children.flatMap(({ list }) => (typeof list === 'number' ? [list] : []))
  const calls: Call[] = [...new Set([ref.list, ...leaves])].map((list) => ({ do: 'finalize', list }))
  for (const list of new Set(leaves))
    for (const who of [stranger, ...named(s)]) for (const on of [true, false]) calls.push({ do: 'list', list, who, on })
  // The two last lists of every state are an empty blocklist and an empty allowlist that nobody administers.
  const [open, shut] = [s.lists.length - 2, s.lists.length - 1]
  for (const list of [open, shut])
    if (top.type > 1)
      calls.push({ do: 'combine', list: ref.list, children: [list, list].map((one) => ({ list: one, not: false })) })
  return calls
}

const keyOf = (s: State) => JSON.stringify([s.roles, s.scopes, s.lists, s.paused, s.supply, s.cap])

/** Steps that change something and are made by somebody who exists. A grant is made to oneself. */
function steps(s: State, calls: readonly Call[]): (Step & { next: State })[] {
  return calls.flatMap((call) =>
    people.flatMap((caller) => {
      if (call.do === 'grant' && call.to !== caller) return []
      const next = perform(s, caller, call)
      return next === undefined || next === s ? [] : [{ caller, call, next }]
    }),
  )
}

export function search(s: State, power: PowerName): Found {
  if (power === 'freeze') return searchFreeze(s)
  const who = new Set(usersOf(s, power))
  const fresh = (state: State) => usersOf(state, power).filter((one) => !who.has(one))
  const partners = new Set<number>()
  const groups: Found['groups'] = []
  let reached = false
  const walk = (state: State, taken: readonly Step[]) => {
    const users = taken.length === 0 ? [] : fresh(state)
    if (users.length > 0) {
      reached = true
      for (const user of users)
        if (isNeeded(s, taken, (end) => usersOf(end, power).includes(user))) {
          const callers = [...taken.map(({ caller }) => caller), ...initialHolder(s, power, user)]
          groups.push({ callers, user })
          for (const party of callers) if (!who.has(party)) partners.add(party)
        }
      return
    }
    if (taken.length === depthMax || who.size + partners.size === people.length) return
    for (const { caller, call, next } of steps(state, preparations(state, power)))
      walk(next, [...taken, { caller, call }])
  }
  walk(s, [])
  const later = reached || (who.size === 0 && canReachFar(s, power))
  return { now: who.size > 0 ? 'armed' : later ? 'latent' : 'impossible', who, partners, groups }
}

/** Whether a group that needs this party exists: without it the others cannot do it in any way of three steps. */
export function isIndispensable(s: State, power: PowerName, party: number, { groups }: Found): boolean {
  return groups.some(({ callers, user }) => {
    if (!callers.includes(party)) return false
    if (party === user) return true
    const rest = new Set([...callers.filter((one) => one !== party), user])
    const walk = (state: State, depth: number): boolean =>
      usersOf(state, power).includes(user) ||
      (depth < depthMax &&
        steps(state, preparations(state, power)).some(({ caller, next }) => rest.has(caller) && walk(next, depth + 1)))
    return !walk(s, 0)
  })
}

const initialHolder = (s: State, power: PowerName, user: number): number[] =>
  (((s.roles[roleFor[power] as number] as number) >> user) & 1) === 1 ? [user] : []

/** No step can be left out. */
function isNeeded(s: State, taken: readonly Step[], done: (end: State) => boolean): boolean {
  return taken.every((_, skipped) => {
    let state: State | undefined = s
    for (const [i, { caller, call }] of taken.entries())
      if (i !== skipped && state !== undefined) state = perform(state, caller, call)
    return state === undefined || !done(state)
  })
}

/** Taking roles, lifting pauses and taking lists over never stand in the way: all of that first, then the rest. */
function canReachFar(s: State, power: PowerName): boolean {
  let start = s
  for (let before: State | undefined; before !== start; ) {
    before = start
    const helpful = preparations(start, power).filter((call) => ['grant', 'unpause', 'finalize'].includes(call.do))
    for (const { caller, call } of steps(start, helpful)) start = perform(start, caller, call) ?? start
  }
  let frontier = [start]
  const seen = new Set([keyOf(start)])
  for (let depth = 0; depth < depthFar; depth += 1) {
    const further: State[] = []
    for (const state of frontier) {
      if (usersOf(state, power).length > 0) return true
      for (const { next } of steps(state, preparations(state, power)))
        if (seen.size < 4_000 && !seen.has(keyOf(next))) {
          seen.add(keyOf(next))
          further.push(next)
        }
    }
    frontier = further
  }
  return frontier.some((state) => usersOf(state, power).length > 0)
}

/** Scopes that keep holders from sending or receiving. */
export const freezing = (s: State): number[] => (s.fork === 3 ? [0, 1, 2] : [0, 1])

/** Freezing is a change of lists after which somebody is stopped who was not; binding another policy prepares it. */
function searchFreeze(s: State): Found {
  const who = new Set<number>()
  const partners = new Set<number>()
  for (const place of freezing(s)) {
    const stopped = (state: State) => everybody.filter((one) => !admitted(state, state.scopes[place] as Ref, one))
    const before = stopped(s)
    const newly = (state: State) => stopped(state).some((one) => !before.includes(one))
    const thawed = (state: State) => before.some((one) => !stopped(state).includes(one))
    const all = before.length === everybody.length
    const groups = changesOfLists(s, place, all ? thawed : newly).map((taken) => taken.map(({ caller }) => caller))
    for (const group of groups)
      // Whoever the others can do without has no part in it.
      for (const party of group)
        if (!groups.some((other) => other.every((one) => one !== party && group.includes(one)))) who.add(party)
    if (all) for (const admin of usersOf(s, 'admin')) who.add(admin)
  }
  const admins = search(s, 'admin')
  for (const admin of [...admins.who, ...admins.partners]) if (!who.has(admin)) partners.add(admin)
  const later = partners.size > 0
  return { now: who.size > 0 ? 'armed' : later ? 'latent' : 'impossible', who, partners, groups: admins.groups }
}

/** Shortest series of list changes of which none can be left out; taking a list over is part of using it. */
function changesOfLists(s: State, place: number, done: (state: State) => boolean): Step[][] {
  const found: Step[][] = []
  const walk = (state: State, taken: readonly Step[], moves: number) => {
    if (taken.length > 0 && done(state)) {
      if (isNeeded(s, taken, done)) found.push([...taken])
      return
    }
    if (moves === depthMax) return
    for (const { caller, call, next } of steps(state, listCalls(state, s.scopes[place] as Ref))) {
      walk(next, [...taken, { caller, call }], moves + (call.do === 'finalize' ? 0 : 1))
    }
  }
  walk(s, [], 0)
  return found
}

const named = (s: State): number[] =>
  everybody.filter((one) => s.lists.some(({ members }) => ((members >> one) & 1) === 1))

/** Who can stop somebody without any other. */
export function freezesAlone(s: State, party: number): boolean {
  return freezing(s).some((place) => {
    const ref = s.scopes[place] as Ref
    const stopped = (state: State) => everybody.filter((one) => !admitted(state, ref, one))
    const before = stopped(s)
    const all = before.length === everybody.length
    if (all && usersOf(s, 'admin').includes(party)) return true
    const own: State = {
      ...s,
      lists: s.lists.map((list) => ({ ...list, pending: list.pending === party ? party : 5 })),
    }
    const done = (state: State) =>
      all ? stopped(state).length < before.length : stopped(state).some((one) => !before.includes(one))
    return changesOfLists(own, place, done).some((taken) => taken.every(({ caller }) => caller === party))
  })
}
