import { zeroAddress } from '@assay/protocol/address'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { adminRole, draftRoles, noSupplyCap, roleLabel, roles, scopeNames, wad } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import { decodePolicyId } from '../policy-id.ts'
import { accountsAnswered, canStillChange, deniesOf, freezingScopes, viewScope } from './policies.ts'
import { largestSupply } from './powers.ts'
import { levelOf, reachOf } from './reach.ts'
import { isPresumedDead, isReachable } from './reachable.ts'
import type { Flag, Missing, Power, PowerName, Severity, Verdict } from './types.ts'

type Raise = (code: string, severity: Severity, sentence: string, ...facts: string[]) => void
type Powers = Record<PowerName, Power>

/** What a reader should not overlook, each with the facts behind it. Codes never change their meaning. */
export function flagsOf(facts: TokenFacts, powers: Powers, missing: readonly Missing[], verdict: Verdict): Flag[] {
  const flags: Flag[] = []
  const raise: Raise = (code, severity, sentence, ...from) => flags.push({ code, severity, sentence, facts: from })
  if (facts.variant === 'unsupported') {
    raise(
      'unsupported_variant',
      'critical',
      `This is a B20 token of variant ${facts.variantByte}, which nobody here has reviewed; nothing is said about it.`,
      'variant',
    )
    return flags
  }
  if (missing.length > 0)
    raise(
      'incomplete',
      'critical',
      'Not everything could be read or proven; what is missing may hide any power.',
      ...new Set(missing.map(({ code }) => code)),
    )
  adminFlags(facts, raise)
  roleFlags(facts, raise)
  supplyFlags(facts, powers, raise)
  takingFlags(facts, powers, raise)
  freezeFlags(facts, powers, raise)
  pauseFlags(facts, powers, raise)
  otherFlags(facts, powers, raise)
  if (verdict === 'LOCKED')
    raise('locked', 'info', 'Nobody can mint, seize, freeze, pause, rename or change anything about control.', 'powers')
  const rank: Record<Severity, number> = { critical: 0, warning: 1, notice: 2, info: 3 }
  return flags.sort((a, b) => rank[a.severity] - rank[b.severity] || (a.code < b.code ? -1 : 1))
}

function adminFlags(facts: TokenFacts, raise: Raise): void {
  const holders = facts.roles.get(adminRole)?.holders ?? []
  if (facts.adminCount.known && facts.adminCount.value === 0n && holders.length === 0)
    raise(
      'adminless',
      'info',
      'There is no admin and there can never be one; roles still held stay held for ever.',
      'admin_count',
    )
  const live = holders.filter(({ account }) => isReachable(facts, account))
  if (live.length > 0)
    raise(
      'admin_live',
      'warning',
      `${live.length === 1 ? 'An admin' : `${live.length} admins`} can rebind every policy, move the cap and grant roles.`,
      'roles.DEFAULT_ADMIN_ROLE',
    )
  if (holders.some(({ account }) => account === zeroAddress))
    raise(
      'admin_at_zero_address',
      'notice',
      'The admin role was given to address zero, which can act for nobody; custom role admins would still work.',
      'roles.DEFAULT_ADMIN_ROLE',
    )
  if (holders.some(({ account }) => account !== zeroAddress && !isReachable(facts, account)))
    raise(
      'admin_unreachable',
      'notice',
      'The admin role was given to native code that can never call; custom role admins would still work.',
      'roles.DEFAULT_ADMIN_ROLE',
    )
  if (holders.some(({ account }) => isPresumedDead(facts, account)))
    raise(
      'admin_presumed_dead',
      'warning',
      'An admin is an address nobody is known to have the key of; that is a presumption, not a proof.',
      'roles.DEFAULT_ADMIN_ROLE',
    )
  const only = live.length === 1 ? facts.accounts.get(live[0]?.account ?? zeroAddress) : undefined
  if (only?.known && only.value.kind === 'eoa')
    raise(
      'admin_is_single_key',
      'warning',
      'The only admin is one ordinary account: its key alone controls the token.',
      'roles.DEFAULT_ADMIN_ROLE',
    )
}

function roleFlags(facts: TokenFacts, raise: Raise): void {
  for (const role of facts.roles.values()) {
    if (!role.admin.known || role.admin.value === adminRole) continue
    const self = role.admin.value === role.role
    const holdersOf = facts.roles.get(role.admin.value)?.holders.length ?? 0
    if (self && holdersOf === 0)
      raise(
        'role_retired',
        'info',
        `${roleLabel(role.role)} is its own admin and nobody holds it: it is retired for good.`,
        `roles.${roleLabel(role.role)}`,
      )
    else
      raise(
        'custom_role_admin',
        'notice',
        `${roleLabel(role.role)} is administered by ${self ? 'itself' : roleLabel(role.admin.value)}, not by the default admin.`,
        `roles.${roleLabel(role.role)}`,
      )
  }
  for (const [name, hash] of Object.entries(draftRoles))
    if ((facts.roles.get(hash)?.holders.length ?? 0) > 0)
      raise(
        'draft_role_held',
        'notice',
        `Somebody holds ${name}, a role of a draft that may gain a meaning later.`,
        `roles.${name}`,
      )
}

function supplyFlags(facts: TokenFacts, powers: Powers, raise: Raise): void {
  const largest = largestSupply(facts)
  if (largest !== undefined && facts.totalSupply.known && largest === facts.totalSupply.value)
    raise('supply_fixed', 'info', 'No new tokens can ever be made.', 'total_supply', 'roles.MINT_ROLE')
  const mint = powers.mint
  if (mint.now !== 'impossible' && mint.who.length + mint.couldBecome.length > 0) {
    if (largest === noSupplyCap)
      raise(
        'mint_unlimited',
        'warning',
        'The supply has no bound that an admin could not lift.',
        'supply_cap',
        'roles.MINT_ROLE',
      )
    // Where the bound could not be read nothing is said about it: a cap would be a comfort nobody has proven.
    else if (largest !== undefined)
      raise(
        'mint_capped',
        'notice',
        'New tokens can be made up to the supply cap, which nobody can raise.',
        'supply_cap',
        'roles.MINT_ROLE',
      )
    if (facts.adminCount.known && facts.adminCount.value === 0n)
      raise(
        'minter_irrevocable',
        'critical',
        'There is no admin, so the minters can never be removed.',
        'admin_count',
        'roles.MINT_ROLE',
      )
  }
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`)

function takingFlags(facts: TokenFacts, powers: Powers, raise: Raise): void {
  if (powers.seize.now === 'armed') {
    const exempt = viewScope(facts, 'SEIZE_EXEMPT_POLICY')
    if (accountsAnswered(exempt, false) === undefined)
      raise(
        'seizable_unless_listed',
        'critical',
        deniesOf(exempt) === 'everybody'
          ? 'Tokens can be taken from every account; nobody is exempt.'
          : 'Tokens can be taken from every account that is not on a list of exempt ones.',
        'scopes.SEIZE_EXEMPT_POLICY',
        'roles.SEIZE_ROLE',
      )
    else
      raise(
        'seizable_if_listed',
        'critical',
        'Tokens can be taken from accounts that a policy names.',
        'scopes.SEIZE_EXEMPT_POLICY',
        'roles.SEIZE_ROLE',
      )
  }
  if (powers.seize.now === 'latent')
    raise(
      'seize_possible_later',
      'warning',
      'Nobody can seize now, but a named party can make it possible.',
      'scopes.SEIZE_EXEMPT_POLICY',
      'roles.SEIZE_ROLE',
    )
  if (powers.seize.exercised > 0)
    raise('has_seized', 'warning', `Tokens were seized ${times(powers.seize.exercised)}.`, 'history')
  if (powers.burn_blocked.now === 'armed')
    raise(
      'blocked_can_be_burned',
      'critical',
      'Tokens of blocked accounts can be destroyed.',
      'scopes.TRANSFER_SENDER_POLICY',
      'roles.BURN_BLOCKED_ROLE',
    )
  if (powers.burn_blocked.exercised > 0)
    raise(
      'has_burned_blocked',
      'warning',
      `Tokens of blocked accounts were destroyed ${times(powers.burn_blocked.exercised)}.`,
      'history',
    )
  if (facts.fork.fork.known && facts.fork.fork.value === 'beryl' && reachOf(facts, roles.SEIZE_ROLE).holders.length > 0)
    raise(
      'seize_role_before_fork',
      'warning',
      'A role that can seize from the next fork on has already been granted.',
      'roles.SEIZE_ROLE',
    )
}

function freezeFlags(facts: TokenFacts, powers: Powers, raise: Raise): void {
  const admins = new Set(reachOf(facts, adminRole).couldBecome.map(({ account }) => account))
  const transferScopes = freezingScopes(facts).scopes
  if (powers.freeze.now === 'armed') {
    raise(
      'freezable',
      'warning',
      'Accounts can be kept from sending or receiving.',
      ...transferScopes.map((scope) => `scopes.${scope}`),
    )
    if (powers.freeze.who.some(({ account }) => !admins.has(account)))
      raise(
        'freeze_by_third_party',
        'warning',
        'The list that freezes is not in the hands of the token admin; it may serve other tokens too.',
        'policies',
      )
  }
  for (const scope of scopeNames)
    if (!transferScopes.includes(scope) && canStillChange(facts, scope) && !viewScope(facts, scope).uncertain)
      raise(
        'policy_still_governed',
        'notice',
        `${scope} follows a list that somebody can still change.`,
        `scopes.${scope}`,
      )
  for (const scope of transferScopes) {
    const denies = deniesOf(viewScope(facts, scope))
    if (denies === 'everybody')
      raise('transfers_blocked_for_all', 'critical', `${scope} denies everybody.`, `scopes.${scope}`)
    else if (denies === 'some' && !canStillChange(facts, scope))
      raise(
        'fixed_restriction',
        'notice',
        `${scope} follows a list that nobody can change any more.`,
        `scopes.${scope}`,
      )
  }
  for (const policy of facts.policies.values()) {
    if (policy.pendingAdmin.known && policy.pendingAdmin.value !== zeroAddress)
      raise(
        'policy_admin_pending',
        'warning',
        `Policy ${policy.id} can be taken over at any time by the account it was offered to.`,
        `policies.${policy.id}`,
      )
    if (policy.exists.known && !policy.exists.value)
      raise('policy_missing', 'critical', `Policy ${policy.id} is bound and does not exist.`, `policies.${policy.id}`)
    if (policy.children.known && policy.children.value.length > 0)
      raise(
        'composite_policy',
        'notice',
        compositeSentence(policy.id, policy.children.value.length),
        `policies.${policy.id}`,
      )
  }
  for (const scope of scopeNames) {
    const bound = facts.scopes[scope]
    if (bound?.known && decodePolicyId(bound.value).inverted)
      raise('inverted_policy', 'notice', `${scope} follows the opposite of a list.`, `scopes.${scope}`)
  }
}

function compositeSentence(id: bigint, children: number): string {
  const rule = decodePolicyId(id).kind === 'intersect' ? 'only if all of them do' : 'if one of them does'
  return `Policy ${id} combines ${children} others: it names an account as allowed ${rule}, so their admins have a say.`
}

function wadText(value: bigint): string {
  const fraction = (value % wad).toString().padStart(18, '0').replace(/0+$/, '')
  return fraction === '' ? String(value / wad) : `${value / wad}.${fraction}`
}

function pauseFlags(facts: TokenFacts, powers: Powers, raise: Raise): void {
  const canUnpause = levelOf(facts, reachOf(facts, roles.UNPAUSE_ROLE))
  const canPause = powers.pause.now === 'armed' || powers.pause.now === 'latent'
  if (canPause && canUnpause === 'impossible')
    raise(
      'pause_without_unpause',
      'critical',
      'Somebody can pause, and nobody could ever lift it: a pause would be for ever.',
      'roles.PAUSE_ROLE',
      'roles.UNPAUSE_ROLE',
    )
  if (!facts.paused.known || facts.paused.value.length === 0) return
  raise('paused_now', 'warning', 'Something is paused at this moment.', 'paused')
  if (facts.paused.value.includes(0))
    raise('transfers_paused', 'critical', 'Nobody can transfer at this moment.', 'paused')
  if (canUnpause === 'impossible')
    raise('stuck_pause', 'critical', 'What is paused can never be lifted.', 'paused', 'roles.UNPAUSE_ROLE')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is looked for
const trickyText = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/

function otherFlags(facts: TokenFacts, powers: Powers, raise: Raise): void {
  const pending = facts.multiplier?.known ? facts.multiplier.value.pending : undefined
  if (facts.multiplier?.known && pending !== undefined)
    raise(
      'multiplier_scheduled',
      'warning',
      `Displayed amounts will change from ${wadText(facts.multiplier.value.current)} to ${wadText(pending.value)} times the raw ones at ${toRfc3339(pending.effectiveAt * 1000)}, without any further transaction.`,
      'multiplier',
    )
  if (powers.metadata.now === 'armed')
    raise(
      'renameable',
      'notice',
      'Name and symbol can be changed at will; the address is the only identity.',
      'roles.METADATA_ROLE',
    )
  for (const fact of [facts.name, facts.symbol, facts.contractUri])
    if (fact.known && trickyText.test(fact.value))
      raise(
        'tricky_text',
        'warning',
        'Name, symbol or link contain invisible or direction-changing characters.',
        'name',
        'symbol',
        'contract_uri',
      )
  const contracts = [...facts.accounts].filter(([, label]) => label.known && label.value.kind === 'contract')
  if (contracts.length > 0)
    raise(
      'contract_holders',
      'notice',
      'A power is held by a contract: who decides there is a further question.',
      ...contracts.map(([account]) => `accounts.${account}`),
    )
}
