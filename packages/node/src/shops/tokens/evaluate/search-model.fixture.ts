import { roleNames, scopeNames } from '../abi/b20.ts'

/** B20 in numbers: its own executable model, which knows nothing of how powers are evaluated. */

/** Four people, the token itself, address zero, and others without end: two who may be listed and one who never is. */
export const people = [0, 1, 2, 3] as const
export const [tokenItself, nobody, stranger, another, untouched] = [4, 5, 6, 7, 8]
export const everybody = [...people, tokenItself, nobody, stranger, another, untouched]

const roleOf = (name: string) => roleNames.indexOf(name as never)
export const customRole = roleNames.length
export const allRoles = [...roleNames.keys(), customRole]
const [ADMIN, MINT, BURN, BURN_BLOCKED, SEIZE, PAUSE, UNPAUSE, METADATA, OPERATOR] = [
  'DEFAULT_ADMIN_ROLE',
  'MINT_ROLE',
  'BURN_ROLE',
  'BURN_BLOCKED_ROLE',
  'SEIZE_ROLE',
  'PAUSE_ROLE',
  'UNPAUSE_ROLE',
  'METADATA_ROLE',
  'OPERATOR_ROLE',
].map(roleOf) as [number, number, number, number, number, number, number, number, number]
export const role = { ADMIN, MINT, BURN, BURN_BLOCKED, SEIZE, PAUSE, UNPAUSE, METADATA, OPERATOR }
export const scope = Object.fromEntries(scopeNames.map((name, i) => [name, i])) as Record<string, number>

/** A bound policy: a list by its place, or one of the two that are always there. */
export type Ref = { list: number | 'allow' | 'block'; not: boolean }
export type List = { type: 0 | 1 | 2 | 3; admin: number; pending: number; members: number; children: Ref[] }

export type State = {
  fork: 1 | 2 | 3
  stablecoin: boolean
  roles: number[]
  roleAdmins: number[]
  scopes: Ref[]
  lists: List[]
  paused: number
  supply: number
  cap: number
}

export const capMax = 1_000
export const allowAll: Ref = { list: 'allow', not: false }

const bit = (n: number) => 1 << n
const has = (mask: number, n: number) => (mask & bit(n)) !== 0
const count = (mask: number): number => everybody.filter((n) => has(mask, n)).length
const holds = (s: State, r: number, who: number) => has(s.roles[r] as number, who)

export function admitted(s: State, ref: Ref, who: number): boolean {
  if (typeof ref.list === 'string') return (ref.list === 'allow') !== ref.not
  const list = s.lists[ref.list] as List
  const listed = has(list.members, who)
  const plain =
    list.type === 0
      ? !listed
      : list.type === 1
        ? listed
        : list.type === 2
          ? list.children.some((child) => admitted(s, child, who))
          : list.children.every((child) => admitted(s, child, who))
  return plain !== ref.not
}
const passes = (s: State, name: string, who: number) => admitted(s, s.scopes[scope[name] as number] as Ref, who)

export type Call =
  | { do: 'grant' | 'revoke'; role: number; to: number }
  | { do: 'renounce'; role: number }
  | { do: 'renounceLastAdmin' }
  | { do: 'setRoleAdmin'; role: number; admin: number }
  | { do: 'pause' | 'unpause'; feature: number }
  | { do: 'bind'; scope: number; ref: Ref }
  | { do: 'cap'; cap: number }
  | { do: 'mint'; to: number }
  | { do: 'burn' | 'rename' | 'multiply' }
  | { do: 'burnBlocked'; from: number }
  | { do: 'seize'; from: number; to: number }
  | { do: 'list'; list: number; who: number; on: boolean }
  | { do: 'stage'; list: number; to: number }
  | { do: 'finalize' | 'renounceList'; list: number }
  | { do: 'combine'; list: number; children: Ref[] }

/** What changes nothing stays the same object. */
function withRole(s: State, r: number, who: number, held: boolean): State {
  if (holds(s, r, who) === held) return s
  return { ...s, roles: s.roles.map((mask, i) => (i === r ? mask ^ bit(who) : mask)) }
}

const refKey = ({ list, not }: Ref) => `${not ? '!' : ''}${list}`
const listKey = ({ type, admin, pending, members, children }: List) =>
  `${type},${admin},${pending},${members},${children.map(refKey).join('+')}`

/** Equal for equal states of one history. */
export const keyOf = (s: State): string =>
  `${s.roles.join()};${s.scopes.map(refKey).join()};${s.lists.map(listKey).join(' ')};${s.paused};${s.supply};${s.cap}`

function withList(s: State, place: number, change: Partial<List>): State {
  const old = s.lists[place] as List
  const next = { ...old, ...change }
  if (listKey(next) === listKey(old)) return s
  return { ...s, lists: s.lists.map((list, i) => (i === place ? next : list)) }
}

const same = (a: Ref | undefined, b: Ref) => a?.list === b.list && a.not === b.not

/** The state after a call, or undefined where it reverts. Native code and address zero call nothing. */
export function perform(s: State, caller: number, call: Call): State | undefined {
  if (caller === tokenItself || caller === nobody) return undefined
  switch (call.do) {
    case 'grant':
      return governs(s, call.role, caller) ? withRole(s, call.role, call.to, true) : undefined
    case 'revoke':
      return governs(s, call.role, caller) ? dropped(s, call.role, call.to) : undefined
    case 'renounce':
      return dropped(s, call.role, caller)
    case 'renounceLastAdmin':
      return holds(s, ADMIN, caller) && count(s.roles[ADMIN] as number) === 1
        ? withRole(s, ADMIN, caller, false)
        : undefined
    case 'setRoleAdmin':
      if (!governs(s, call.role, caller)) return undefined
      if (s.roleAdmins[call.role] === call.admin) return s
      return { ...s, roleAdmins: s.roleAdmins.map((admin, i) => (i === call.role ? call.admin : admin)) }
    case 'pause':
    case 'unpause':
      if (call.feature === 3 && s.fork < 2) return undefined
      if (!holds(s, call.do === 'pause' ? PAUSE : UNPAUSE, caller)) return undefined
      if (has(s.paused, call.feature) === (call.do === 'pause')) return s
      return { ...s, paused: s.paused ^ bit(call.feature) }
    case 'bind':
      if (!holds(s, ADMIN, caller) || (s.fork < 2 && call.scope >= 4) || (s.fork < 3 && call.ref.not)) return undefined
      if (same(s.scopes[call.scope], call.ref)) return s
      return { ...s, scopes: s.scopes.map((ref, i) => (i === call.scope ? call.ref : ref)) }
    case 'cap':
      if (!holds(s, ADMIN, caller) || call.cap < s.supply || call.cap > capMax) return undefined
      return s.cap === call.cap ? s : { ...s, cap: call.cap }
    default:
      return moves(s, caller, call) ?? lists(s, caller, call)
  }
}

function governs(s: State, r: number, caller: number): boolean {
  return s.roles[ADMIN] !== 0 && holds(s, s.roleAdmins[r] as number, caller)
}

function dropped(s: State, r: number, who: number): State | undefined {
  const last = r === ADMIN && holds(s, ADMIN, who) && count(s.roles[ADMIN] as number) === 1
  return last ? undefined : withRole(s, r, who, false)
}

const receives = (s: State, to: number) => to !== nobody && !(to === tokenItself && s.fork === 3)

/** What changes balances or what wallets show. Burning needs a supply; whose it is is not modelled. */
function moves(s: State, caller: number, call: Call): State | undefined {
  const may = (feature: number, r: number) => !has(s.paused, feature) && holds(s, r, caller)
  switch (call.do) {
    case 'mint':
      if (!may(1, MINT) || !receives(s, call.to) || !passes(s, 'MINT_RECEIVER_POLICY', call.to)) return undefined
      return s.supply < s.cap ? { ...s, supply: s.supply + 1 } : undefined
    case 'burn':
      return may(2, BURN) && s.supply > 0 ? { ...s, supply: s.supply - 1 } : undefined
    case 'burnBlocked':
      if (!may(2, BURN_BLOCKED) || passes(s, 'TRANSFER_SENDER_POLICY', call.from)) return undefined
      return s.supply === 0 ? s : { ...s, supply: s.supply - 1 }
    case 'seize':
      if (s.fork < 2 || !may(3, SEIZE) || !receives(s, call.to) || call.from === call.to) return undefined
      if (call.from === nobody && s.fork === 3) return undefined
      return passes(s, 'SEIZE_EXEMPT_POLICY', call.from) || !passes(s, 'SEIZE_RECEIVER_POLICY', call.to) ? undefined : s
    case 'rename':
      return holds(s, METADATA, caller) ? s : undefined
    case 'multiply':
      return holds(s, OPERATOR, caller) && !s.stablecoin ? s : undefined
    default:
      return undefined
  }
}

function lists(s: State, caller: number, call: Call): State | undefined {
  if (!('list' in call)) return undefined
  const list = s.lists[call.list]
  if (list === undefined) return undefined
  if (call.do === 'finalize')
    return list.pending === caller ? withList(s, call.list, { admin: caller, pending: nobody }) : undefined
  if (list.admin !== caller) return undefined
  switch (call.do) {
    case 'list':
      if (list.type > 1) return undefined
      return withList(s, call.list, {
        members: call.on ? list.members | bit(call.who) : list.members & ~bit(call.who),
      })
    case 'stage':
      return withList(s, call.list, { pending: call.to })
    case 'renounceList':
      return withList(s, call.list, { admin: nobody, pending: nobody })
    case 'combine':
      return list.type < 2 ? undefined : withList(s, call.list, { children: call.children })
    default:
      return undefined
  }
}
