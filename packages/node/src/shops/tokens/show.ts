import { checksumAddress } from '@assay/protocol/address'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Checked } from './checker.ts'
import type { Party, Power } from './evaluate/types.ts'
import type { AccountLabel, Known, PinnedBlock, TokenFacts } from './facts.ts'

/** A fact as answers carry it: its value, or why it is not known. Never a zero or an empty list in its place. */
export type Shown<T> = T | { unknown: string }

export function show<T, S>(fact: Known<T>, form: (value: T) => S): Shown<S> {
  return fact.known ? form(fact.value) : { unknown: fact.reason }
}

export const showNumber = (fact: Known<bigint>): Shown<string> => show(fact, String)

const shownTextMax = 256

/** Text from issuers: cut, and without what could change direction or hide. Pages escape it again. */
export function cleanText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is replaced
  const hidden = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g
  return [...text.replace(hidden, '\ufffd')].slice(0, shownTextMax).join('')
}

export const showText = (fact: Known<string>): Shown<string> => show(fact, cleanText)

export function showBlock(block: PinnedBlock) {
  return {
    number: block.number.toString(),
    hash: block.hash,
    at: toRfc3339(block.timestamp * 1000),
  }
}

export function showLabel(label: Known<AccountLabel> | undefined): Record<string, unknown> {
  if (label === undefined || !label.known) return { kind: 'unknown' }
  const { value } = label
  if (value.kind === 'safe')
    return { kind: 'safe', threshold: value.threshold, owners: value.owners.map((owner) => checksumAddress(owner)) }
  if (value.kind === 'delegated_eoa') return { kind: 'delegated_eoa', delegate: checksumAddress(value.delegate) }
  return { kind: value.kind }
}

/** A check names this many; a report names all. */
const partiesShownMax = 50

export function showParty(facts: TokenFacts, party: Party) {
  return {
    account: checksumAddress(party.account),
    how: party.how,
    ...(party.alone === undefined ? {} : { alone: party.alone }),
    label: showLabel(facts.accounts.get(party.account)),
  }
}

export function showPower(facts: TokenFacts, power: Power, shownMax = partiesShownMax) {
  return {
    state: power.state,
    now: power.now,
    exercised: power.exercised,
    who: power.who.slice(0, shownMax).map((party) => showParty(facts, party)),
    who_count: power.who.length,
    could_become: power.couldBecome.slice(0, shownMax).map((party) => showParty(facts, party)),
    could_become_count: power.couldBecome.length,
    why: power.why,
  }
}

export function showUnreachable({ evaluation }: Pick<Checked, 'evaluation'>) {
  return evaluation.unreachable.map(({ account, reason, holds }) => ({
    account: checksumAddress(account),
    reason,
    holds: [...holds],
  }))
}

const validSeconds = 60

/** Until when the answer may be relied on: a minute, or less if something is set to change by itself. */
export function validUntil(facts: TokenFacts): number {
  const ceiling = facts.block.timestamp + validSeconds
  const pending = facts.multiplier?.known ? facts.multiplier.value.pending?.effectiveAt : undefined
  return pending === undefined ? ceiling : Math.min(ceiling, pending)
}

export function showCompleteness({ facts, evaluation }: Pick<Checked, 'facts' | 'evaluation'>) {
  return {
    complete: evaluation.complete,
    missing: evaluation.missing,
    admin_set: evaluation.adminSet,
    admin_count: showNumber(facts.adminCount),
    logs: {
      from_block: facts.logs.fromBlock.toString(),
      to_block: facts.logs.toBlock.toString(),
      count: facts.logs.count,
      gaps: facts.logs.gaps.map((gap) => ({
        from_block: gap.fromBlock.toString(),
        to_block: gap.toBlock.toString(),
        reason: gap.reason,
      })),
    },
  }
}

export function showFork({ fork }: TokenFacts) {
  return {
    name: show(fork.fork, (name) => name),
    identified_by: { seize_role: fork.seizeRole, inverted_policy_id: fork.invertedPolicyId },
    scheduled: fork.scheduled ?? null,
    mismatch: fork.mismatch,
  }
}

export function showReading(checked: Pick<Checked, 'meter' | 'providers' | 'quorum' | 'indexedTo'>) {
  const { meter, providers, quorum, indexedTo } = checked
  return {
    providers: [...providers],
    quorum,
    round_trips: { ...meter },
    index_to_block: indexedTo === undefined ? null : indexedTo.toString(),
  }
}
