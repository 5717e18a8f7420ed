import type { Report } from './build-report.ts'

/** Sentences that every rendering of a report shares. Nothing here is escaped yet. */

/** A fact or the words for not knowing it. */
export function factText(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'unknown' in value) return `unknown (${String(value.unknown)})`
  return String(value)
}

export type Account = { account: string; label: Record<string, unknown>; alone?: boolean }

export function labelText(label: Record<string, unknown>): string {
  if (label.kind === 'safe') return `Safe, ${String(label.threshold)} of ${(label.owners as unknown[]).length}`
  if (label.kind === 'delegated_eoa') return `account with code of ${String(label.delegate)}`
  const texts: Record<string, string> = {
    eoa: 'ordinary account',
    zero: 'address zero',
    presumed_dead: 'presumed dead',
    factory: 'the factory',
    unknown: 'kind not known',
  }
  return texts[String(label.kind)] ?? String(label.kind)
}

export const accountText = ({ account, label, alone }: Account) =>
  `${account} (${labelText(label)}${alone === false ? ', only together with others' : ''})`

export function adminText(admin: unknown): string {
  if (admin === null) return 'nobody'
  const party = admin as Account | { unknown: string }
  return 'account' in party ? accountText(party) : factText(party)
}

export function supplyText({ supply, token }: Report): string {
  return `Total ${factText(supply.total)}, cap ${factText(supply.cap)}, headroom ${factText(supply.headroom)}, largest possible ${factText(supply.largest_possible)}; in base units, of which ${factText(token.decimals)} digits are decimals.`
}

export function pauseText({ pause }: Report): string {
  if (!Array.isArray(pause.paused)) return `What is paused is ${factText(pause.paused)}.`
  const names = pause.paused.map(({ name, feature }) => (name === 'unknown' ? `feature ${feature}` : name))
  return names.length === 0 ? 'Nothing is paused.' : `Paused: ${names.join(', ')}. ${pause.note}`
}

export function multiplierText({ multiplier }: Report): string {
  if (multiplier === null) return 'A stablecoin has no multiplier.'
  if ('unknown' in multiplier) return `The multiplier is ${factText(multiplier)}.`
  const { current_wad, pending, note } = multiplier
  const next =
    pending === null ? 'no change is scheduled' : `it becomes ${pending.value_wad} by itself at ${pending.effective_at}`
  return `The multiplier is ${current_wad} (1000000000000000000 is one); ${next}. ${note}`
}

export function seizePathTexts({ seize_paths }: Report): string[] {
  return seize_paths.map(
    ({ path, level, exercised, scope, scope_denies, who, why }) =>
      `${path}: ${level}, used ${exercised} times. ${scope} denies ${scope_denies}. ${why} Role held by: ${who.map(accountText).join('; ') || 'nobody'}.`,
  )
}

const unreachableTexts: Record<string, string> = {
  zero_address: 'address zero',
  this_token: 'the token itself',
  another_token: 'another token',
  factory: 'the factory',
  registry: 'a registry',
}

/** Accounts that hold something in vain. */
export function unreachableLines({ unreachable }: Report): string[] {
  return unreachable.map(
    ({ account, reason, holds }) =>
      `${account} (${unreachableTexts[reason] ?? reason}) can never call and holds in vain: ${holds.join(', ')}.`,
  )
}

const listedShownMax = 100

export function policyText(policy: Report['policies'][number]): string {
  const children = Array.isArray(policy.children)
    ? policy.children.map((child) => `${child.inverted ? 'not ' : ''}${child.base_id}`)
    : [factText(policy.children)]
  const listed = policy.listed.slice(0, listedShownMax)
  const more = policy.listed_count - listed.length
  return [
    `policy ${policy.id}: ${policy.type}`,
    ...(children.length > 0 ? [`combines ${children.join(', ')}`] : []),
    `admin ${adminText(policy.admin)}`,
    `pending ${adminText(policy.pending_admin)}`,
    ...(children.length > 0
      ? []
      : [
          `${policy.listed_count} listed${policy.listed_complete ? '' : ' (list not complete)'}${policy.listed_count > 0 ? `: ${listed.join(', ')}${more > 0 ? ` and ${more} more in the JSON report` : ''}` : ''}`,
        ]),
  ].join(', ')
}

export function genesisTexts({ genesis }: Report): string[] {
  if (genesis === null) return ['The creation could not be found.']
  const calls = genesis.init_calls.map(({ name, selector, arguments: given }) =>
    name === 'unknown' ? `called ${selector}` : `${name}(${given.join(', ')})`,
  )
  return [
    `Created in block ${genesis.block_number} by ${factText(genesis.sender)} (${genesis.via}${genesis.via === 'router' ? ` ${factText(genesis.called)}` : ''}), first admin ${genesis.first_admin ?? 'none'}, transaction ${genesis.transaction}.`,
    ...(calls.length === 0 ? [] : [`In the same transaction: ${calls.join('; ')}.`]),
  ]
}
