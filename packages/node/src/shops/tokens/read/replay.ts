import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { adminRole, factoryAddress, noSupplyCap, roles } from '../abi/b20.ts'
import type { Contradiction } from '../facts.ts'
import type { ControlEvent } from './decode-events.ts'

/** The state of the token by its logs alone. Compared with the views: a difference shows a missing log. */
export type Replayed = {
  /** role -> accounts that hold it by the logs, with the grant. */
  holders: Map<Hex, Map<Address, ControlEvent>>
  /** Every account that was ever granted anything. */
  seen: Set<Address>
  roleAdmins: Map<Hex, Hex>
  supplyCap: bigint
  scopes: Map<Hex, bigint>
  paused: Set<number>
  name?: string
  symbol?: string
  contradictions: Contradiction[]
}

export function replay(events: readonly ControlEvent[], creationTransaction: Hex | undefined): Replayed {
  const state: Replayed = {
    holders: new Map(),
    seen: new Set(),
    roleAdmins: new Map(),
    supplyCap: noSupplyCap,
    scopes: new Map(),
    paused: new Set(),
    contradictions: [],
  }
  for (const event of events) {
    const duringCreation = event.transaction === creationTransaction
    applyEvent(state, event, (actor, role) => {
      if (duringCreation && actor === factoryAddress) return
      if (!holds(state, role, actor))
        state.contradictions.push({
          code: 'actor_without_role',
          detail: `${event.kind} at block ${event.blockNumber} was made by ${actor}, who by the logs did not hold the role`,
        })
    })
  }
  return state
}

type RequireRole = (actor: Address, role: Hex) => void

function holds(state: Replayed, role: Hex, account: Address): boolean {
  return state.holders.get(role)?.has(account) ?? false
}

const adminOf = (state: Replayed, role: Hex): Hex => state.roleAdmins.get(role) ?? adminRole

function applyEvent(state: Replayed, event: ControlEvent, requireRole: RequireRole): void {
  const expect = (holdsTrue: boolean, code: string, detail: string) => {
    if (!holdsTrue) state.contradictions.push({ code, detail: `${detail} at block ${event.blockNumber}` })
  }
  switch (event.kind) {
    case 'role_granted':
      requireRole(event.sender, adminOf(state, event.role))
      expect(!holds(state, event.role, event.account), 'grant_repeated', 'a role was granted to one who had it')
      holdersOf(state, event.role).set(event.account, event)
      state.seen.add(event.account)
      return
    case 'role_revoked':
      if (event.sender !== event.account) requireRole(event.sender, adminOf(state, event.role))
      expect(
        holds(state, event.role, event.account),
        'revoke_without_grant',
        'a role was taken from one who had it not',
      )
      holdersOf(state, event.role).delete(event.account)
      state.seen.add(event.account)
      return
    case 'last_admin_renounced':
      // Some forks may say it in this event alone.
      holdersOf(state, adminRole).delete(event.previousAdmin)
      state.seen.add(event.previousAdmin)
      return
    case 'role_admin_changed':
      expect(
        adminOf(state, event.role) === event.previousAdmin,
        'role_admin_jump',
        'a role admin changed from another one',
      )
      state.roleAdmins.set(event.role, event.newAdmin)
      return
    case 'supply_cap_updated':
      requireRole(event.updater, adminRole)
      expect(state.supplyCap === event.oldCap, 'cap_jump', 'the supply cap changed from another value')
      state.supplyCap = event.newCap
      return
    case 'policy_updated':
      expect((state.scopes.get(event.scope) ?? 0n) === event.oldId, 'policy_jump', 'a policy changed from another one')
      state.scopes.set(event.scope, event.newId)
      return
    default:
      applyOther(state, event, requireRole)
  }
}

function applyOther(state: Replayed, event: ControlEvent, requireRole: RequireRole): void {
  switch (event.kind) {
    case 'paused':
      requireRole(event.updater, roles.PAUSE_ROLE)
      for (const feature of event.features) state.paused.add(feature)
      return
    case 'unpaused':
      requireRole(event.updater, roles.UNPAUSE_ROLE)
      for (const feature of event.features) state.paused.delete(feature)
      return
    case 'seized':
      requireRole(event.caller, roles.SEIZE_ROLE)
      return
    case 'burned_blocked':
      requireRole(event.caller, roles.BURN_BLOCKED_ROLE)
      return
    case 'name_updated':
      requireRole(event.updater, roles.METADATA_ROLE)
      state.name = event.text
      return
    case 'symbol_updated':
      requireRole(event.updater, roles.METADATA_ROLE)
      state.symbol = event.text
      return
    default:
  }
}

function holdersOf(state: Replayed, role: Hex): Map<Address, ControlEvent> {
  const known = state.holders.get(role) ?? new Map<Address, ControlEvent>()
  state.holders.set(role, known)
  return known
}
