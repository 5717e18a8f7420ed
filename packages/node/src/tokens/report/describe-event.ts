import { checksumAddress } from '../../kernel/address.ts'
import { pausableFeatures, roleLabel, scopes } from '../abi/b20.ts'
import type { ControlEvent } from '../read/decode-events.ts'
import { cleanText } from '../show.ts'

const scopeNameByHash = new Map<string, string>(Object.entries(scopes).map(([name, hash]) => [hash, name]))
const who = checksumAddress
const featureList = (features: readonly number[]) =>
  features.map((n) => pausableFeatures[n] ?? `feature ${n}`).join(', ')

/** One line of the history of control. */
export function describeEvent(event: ControlEvent) {
  return {
    kind: event.kind,
    text: textOf(event),
    block_number: event.blockNumber.toString(),
    block_hash: event.blockHash,
    transaction: event.transaction,
    log_index: event.logIndex,
  }
}

function textOf(event: ControlEvent): string {
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
    case 'multiplier_updated':
      return `the multiplier became ${event.value}`
    case 'ui_multiplier_updated':
      return `the multiplier changes from ${event.oldValue} to ${event.newValue} at ${event.effectiveAt}`
    case 'ui_multiplier_cancelled':
      return `the scheduled multiplier ${event.value} was cancelled`
  }
}
