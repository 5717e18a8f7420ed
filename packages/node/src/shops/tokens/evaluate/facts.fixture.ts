import { type Address, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { adminRole, factoryAddress, type RoleName, roles, type ScopeName } from '../abi/b20.ts'
import { exampleFacts } from '../example.ts'
import { type AccountLabel, type Known, known, type PolicyFacts, type RoleFacts, type TokenFacts } from '../facts.ts'
import type { ControlChange, ControlEvent } from '../read/decode-events.ts'
import { evaluate } from './evaluate.ts'
import { type Power, powerNames } from './types.ts'

const named = (byte: string) => `0x${byte.repeat(20)}` as Address
export const [alice, bob, carol] = [named('aa'), named('bb'), named('cc')] as const
const names = new Map<string, string>([
  [alice, 'alice'],
  [bob, 'bob'],
  [carol, 'carol'],
  [zeroAddress, 'zero'],
])
export const dead = '0x000000000000000000000000000000000000dead' as Address

export type Changes = Partial<Omit<TokenFacts, 'roles' | 'scopes' | 'policies' | 'accounts' | 'events'>> & {
  holders?: Partial<Record<RoleName, readonly Address[]>>
  roleAdmins?: Partial<Record<RoleName, Known<Hex>>>
  unreadPairs?: Partial<Record<RoleName, readonly Address[]>>
  scopes?: Partial<Record<ScopeName, Known<bigint> | undefined>>
  policies?: readonly PolicyFacts[]
  accounts?: readonly [Address, AccountLabel][]
  events?: readonly ControlChange[]
}

const creation = exampleFacts().genesis?.transaction as Hex

/** What the factory does is part of the creation. */
function placed(change: ControlChange, logIndex: number): ControlEvent {
  const made = Object.values(change).includes(factoryAddress)
  return { ...change, blockNumber: 1n, blockHash: '0x', transaction: made ? creation : '0x', logIndex }
}

/** The locked example with some things otherwise; default: the admins in storage are those who hold the role,. */
export function factsWith(changes: Changes): TokenFacts {
  const { holders = {}, roleAdmins = {}, unreadPairs = {}, scopes = {}, policies, accounts, events, ...rest } = changes
  const base = exampleFacts()
  const held = new Map<Hex, RoleFacts>(base.roles)
  for (const name of Object.keys(roles) as RoleName[]) {
    const role = held.get(roles[name]) as RoleFacts
    held.set(roles[name], {
      ...role,
      admin: roleAdmins[name] ?? role.admin,
      holders: (holders[name] ?? []).map((account) => ({ account })),
      unreadPairs: unreadPairs[name] ?? [],
    })
  }
  return {
    ...base,
    adminCount: known(BigInt(held.get(adminRole)?.holders.length ?? 0)),
    ...rest,
    roles: held,
    scopes: { ...base.scopes, ...scopes },
    policies: new Map((policies ?? []).map((policy) => [policy.id, policy])),
    accounts: new Map((accounts ?? []).map(([account, label]) => [account, known(label)])),
    events: (events ?? []).map(placed),
  }
}

export const policyWith = (id: bigint, changes: Partial<PolicyFacts> = {}): PolicyFacts => ({
  id,
  exists: known(true),
  admin: known(zeroAddress),
  pendingAdmin: known(zeroAddress),
  children: known([]),
  members: [],
  membersComplete: true,
  ...changes,
})

const nameOf = (account: Address) => names.get(account) ?? account

/** `now`, how often used, who can and who could, in one line. */
export function powerLine({ now, state, exercised, who, couldBecome }: Power): string {
  const list = (parties: Power['who']) => parties.map(({ account }) => nameOf(account)).join('+') || '-'
  return `${now}${state === now ? '' : `/${state}`} ${exercised} ${list(who)} ${list(couldBecome)}`
}

/** The verdict in short: what is missing, what is flagged, and the powers that somebody has. */
export function evaluated(changes: Changes) {
  const { verdict, missing, flags, powers, adminSet } = evaluate(factsWith(changes))
  const idle = evaluate(factsWith({})).powers
  const changed: Record<string, string> = {}
  for (const name of powerNames) {
    const line = powerLine(powers[name])
    if (line === powerLine(idle[name])) continue
    changed[line] = changed[line] === undefined ? name : `${changed[line]} ${name}`
  }
  return {
    verdict,
    adminSet,
    missing: missing.map(({ code }) => code),
    flags: flags.map(({ code, severity, facts }) => `${severity} ${code}: ${facts.join(' ')}`),
    powers: changed,
  }
}
