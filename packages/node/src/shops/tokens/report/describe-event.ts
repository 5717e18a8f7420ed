import { type Address, checksumAddress, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { pausableFeatures, roleLabel, roles, scopes } from '../abi/b20.ts'
import type { PowerName } from '../evaluate/types.ts'
import type { TokenFacts } from '../facts.ts'
import { byPlace, type ControlEvent } from '../read/decode-events.ts'
import type { PolicyEvent } from '../read/decode-policy-events.ts'
import { cleanText } from '../show.ts'

const scopeNameByHash = new Map<string, string>(Object.entries(scopes).map(([name, hash]) => [hash, name]))
export type HistoryEvent = ControlEvent | PolicyEvent

const who = checksumAddress
const featureList = (features: readonly number[]) =>
  features.map((n) => pausableFeatures[n] ?? `feature ${n}`).join(', ')

/** Everything that changed control, from the token's own logs and from those of the lists it follows. */
export function historyOf(facts: TokenFacts): HistoryEvent[] {
  return [...facts.events, ...facts.policyEvents].sort(byPlace)
}

/** The powers that an event says something about. */
function concerns(event: HistoryEvent): PowerName[] {
  switch (event.kind) {
    case 'role_granted':
    case 'role_revoked':
    case 'role_admin_changed':
      return rolePowers.get(event.role) ?? []
    case 'last_admin_renounced':
    case 'supply_cap_updated':
      return event.kind === 'last_admin_renounced' ? ['admin', 'supply_cap'] : ['supply_cap']
    case 'policy_updated':
      return scopePowers[scopeNameByHash.get(event.scope) ?? ''] ?? []
    case 'paused':
      return ['pause']
    case 'unpaused':
      return ['unpause']
    case 'seized':
      return ['seize']
    case 'burned_blocked':
      return ['burn_blocked']
    case 'name_updated':
    case 'symbol_updated':
    case 'contract_uri_updated':
    case 'extra_metadata_updated':
      return ['metadata']
    case 'multiplier_updated':
    case 'ui_multiplier_updated':
    case 'ui_multiplier_cancelled':
      return ['multiplier']
    default:
      return ['freeze', 'seize', 'mint']
  }
}

const rolePowers = new Map<Hex, PowerName[]>([
  [roles.DEFAULT_ADMIN_ROLE, ['admin', 'supply_cap']],
  [roles.MINT_ROLE, ['mint']],
  [roles.SEIZE_ROLE, ['seize']],
  [roles.BURN_BLOCKED_ROLE, ['burn_blocked']],
  [roles.PAUSE_ROLE, ['pause']],
  [roles.UNPAUSE_ROLE, ['unpause']],
  [roles.METADATA_ROLE, ['metadata']],
  [roles.OPERATOR_ROLE, ['multiplier']],
])

const scopePowers: Record<string, PowerName[]> = {
  TRANSFER_SENDER_POLICY: ['freeze', 'burn_blocked'],
  TRANSFER_RECEIVER_POLICY: ['freeze'],
  TRANSFER_EXECUTOR_POLICY: ['freeze'],
  MINT_RECEIVER_POLICY: ['mint'],
  SEIZE_EXEMPT_POLICY: ['seize'],
  SEIZE_RECEIVER_POLICY: ['seize'],
}

/** One line of the history of control. */
export function describeEvent(event: HistoryEvent) {
  return {
    kind: event.kind,
    concerns: concerns(event),
    text: textOf(event),
    block_number: event.blockNumber.toString(),
    block_hash: event.blockHash,
    transaction: event.transaction,
    log_index: event.logIndex,
  }
}

const accountsShownMax = 5

function accountList(accounts: readonly Address[]): string {
  const more = accounts.length - accountsShownMax
  const shown = accounts.slice(0, accountsShownMax).map((account) => who(account))
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

function textOf(event: HistoryEvent): string {
  switch (event.kind) {
    case 'role_granted':
      return `${who(event.sender)} granted ${roleLabel(event.role)} to ${who(event.account)}`
    case 'role_revoked':
      return event.sender === event.account
        ? `${who(event.account)} gave up ${roleLabel(event.role)}`
        : `${who(event.sender)} took ${roleLabel(event.role)} from ${who(event.account)}`
    case 'role_admin_changed':
      return `${roleLabel(event.role)} is administered by ${roleLabel(event.newAdmin)} instead of ${roleLabel(event.previousAdmin)}`
    case 'last_admin_renounced':
      return `${who(event.previousAdmin)}, the last admin, stepped down for good`
    case 'paused':
      return `${who(event.updater)} paused ${featureList(event.features)}`
    case 'unpaused':
      return `${who(event.updater)} unpaused ${featureList(event.features)}`
    case 'policy_updated':
      return `${scopeNameByHash.get(event.scope) ?? event.scope} was bound to policy ${event.newId} instead of ${event.oldId}`
    case 'supply_cap_updated':
      return `${who(event.updater)} moved the supply cap from ${event.oldCap} to ${event.newCap}`
    case 'seized':
      return `${who(event.caller)} moved ${event.amount} from ${who(event.from)} to ${who(event.to)}`
    case 'burned_blocked':
      return `${who(event.caller)} destroyed ${event.amount} of the blocked account ${who(event.from)}`
    case 'name_updated':
      return `${who(event.updater)} renamed the token to ${cleanText(event.text)}`
    case 'symbol_updated':
      return `${who(event.updater)} changed the symbol to ${cleanText(event.text)}`
    case 'contract_uri_updated':
      return 'the link was changed'
    case 'extra_metadata_updated':
      return `the entry ${cleanText(event.key)} became ${cleanText(event.value)}`
    case 'multiplier_updated':
      return `the multiplier became ${event.value}`
    case 'ui_multiplier_updated':
      return `the multiplier changes from ${event.oldValue} to ${event.newValue} at ${event.effectiveAt}`
    case 'ui_multiplier_cancelled':
      return `the scheduled multiplier ${event.value} was cancelled`
    default:
      return policyText(event)
  }
}

function policyText(event: PolicyEvent): string {
  const policy = `policy ${event.policyId}`
  switch (event.kind) {
    case 'policy_created':
      return `${who(event.creator)} created ${policy}`
    case 'policy_listed':
      return `${who(event.updater)} put ${accountList(event.accounts)} on the list of ${policy}`
    case 'policy_unlisted':
      return `${who(event.updater)} took ${accountList(event.accounts)} off the list of ${policy}`
    case 'policy_admin_staged':
      return `${who(event.from)} offered ${policy} to ${who(event.to)}`
    case 'policy_admin_changed':
      return event.to === zeroAddress
        ? `${who(event.from)} gave up ${policy}: nobody can change it any more`
        : `${policy} is administered by ${who(event.to)} instead of ${event.from === zeroAddress ? 'nobody' : who(event.from)}`
    case 'policy_children_changed':
      return `${who(event.updater)} let ${policy} combine ${event.children.join(', ')}`
  }
}
