import type { Hex } from '@assay/protocol/bytes'
import { adminRole } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import type { ControlEvent } from '../read/decode-events.ts'
import { freezingScopes, namedAndDenied, viewScope } from './policies.ts'
import type { PowerName } from './types.ts'

/**
 * How often each power was used, as far as logs and state show. What the factory did in the creation is the making of
 * the token, not a use of a power over it.
 */
export function exercisedOf(facts: TokenFacts): Record<PowerName, number> {
  const events = facts.events.filter(({ transaction }) => transaction !== facts.genesis?.transaction)
  const count = (...kinds: ControlEvent['kind'][]) => events.filter(({ kind }) => kinds.includes(kind)).length
  return {
    admin: adminActs(facts.events, facts.genesis?.transaction),
    mint: facts.minted.known && facts.minted.value ? 1 : 0,
    seize: count('seized'),
    burn_blocked: count('burned_blocked'),
    freeze: frozenAccounts(facts),
    pause: count('paused'),
    unpause: count('unpaused'),
    supply_cap: count('supply_cap_updated'),
    metadata: count('name_updated', 'symbol_updated', 'contract_uri_updated', 'extra_metadata_updated'),
    multiplier: multiplierActs(events),
  }
}

/** Binding policies, moving the cap and what the default admin did with roles; nobody needs to be admin to step down. */
function adminActs(events: readonly ControlEvent[], creation: Hex | undefined): number {
  const admins = new Map<Hex, Hex>()
  let acts = 0
  for (const event of events) {
    const byAdmin = isAdminAct(event, (role) => admins.get(role) ?? adminRole)
    if (event.kind === 'role_admin_changed') admins.set(event.role, event.newAdmin)
    if (byAdmin && event.transaction !== creation) acts += 1
  }
  return acts
}

function isAdminAct(event: ControlEvent, adminOf: (role: Hex) => Hex): boolean {
  switch (event.kind) {
    case 'policy_updated':
    case 'supply_cap_updated':
      return true
    case 'role_admin_changed':
      return event.previousAdmin === adminRole
    case 'role_granted':
      return adminOf(event.role) === adminRole
    case 'role_revoked':
      return adminOf(event.role) === adminRole && event.sender !== event.account
    default:
      return false
  }
}

/** One change may write three logs in a row: what it cancels, the old event and the new one. */
function multiplierActs(events: readonly ControlEvent[]): number {
  const kindAt = new Map(events.map((event) => [`${event.transaction} ${event.logIndex}`, event.kind]))
  return events.filter((event) => {
    const beside = (offset: number) => kindAt.get(`${event.transaction} ${event.logIndex + offset}`)
    if (event.kind === 'ui_multiplier_updated') return beside(-1) !== 'multiplier_updated'
    if (event.kind === 'ui_multiplier_cancelled') return beside(1) !== 'multiplier_updated'
    return event.kind === 'multiplier_updated'
  }).length
}

/** Accounts that lists keep from sending or receiving today. */
function frozenAccounts(facts: TokenFacts): number {
  const { scopes } = freezingScopes(facts)
  return new Set(scopes.flatMap((scope) => namedAndDenied(viewScope(facts, scope)))).size
}
