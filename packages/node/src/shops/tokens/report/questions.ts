import type { Flag } from '../evaluate/types.ts'

const byFlag: Record<string, string> = {
  admin_live: 'Who are the people behind the admin, and under what rules do they use it?',
  admin_is_single_key:
    'Why is the admin one ordinary key rather than a multisig or a timelock, and who else has a copy?',
  admin_presumed_dead: 'Why was the admin sent to a dead-looking address instead of being renounced?',
  mint_unlimited: 'Who decides about new tokens, and what backs them?',
  minter_irrevocable: 'The minters can never be removed: who are they, and what happens if a key is lost or stolen?',
  seizable_unless_listed:
    'Under what law and in which cases are tokens seized, and how does one get on the list of exempt accounts?',
  seizable_if_listed: 'Who decides which accounts are named, and how can a holder object?',
  seize_possible_later: 'Will seizing ever be switched on, and how will holders be notified?',
  blocked_can_be_burned: 'When are the tokens of blocked accounts destroyed, and is their value paid out?',
  freezable: 'Who decides which accounts are frozen, for how long, and who can be asked?',
  freeze_by_third_party: 'Who runs the list that freezes, and which other tokens follow it?',
  policy_admin_pending: 'Who was the policy offered to, and why?',
  pause_without_unpause: 'Why can somebody pause while nobody can lift it?',
  stuck_pause: 'How do holders get their tokens back if the pause can never be lifted?',
  transfers_paused: 'Why are transfers paused, and until when?',
  transfers_blocked_for_all: 'When will transfers be possible?',
  multiplier_scheduled: 'Why will displayed amounts change, and what does one token stand for afterwards?',
  renameable: 'Will name or symbol change, and where is that announced?',
  contract_holders: 'What does the contract that holds these powers allow, and who controls it?',
  unsupported_variant: 'What are the rules of this variant?',
}

/** What a holder should ask the issuer, most pressing first. */
export function questionsFor(flags: readonly Flag[]): string[] {
  return [...new Set(flags.flatMap((flag) => byFlag[flag.code] ?? []))]
}
