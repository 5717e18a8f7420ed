import { checksumAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import type { Checked } from '../checker.ts'
import type { PolicyFacts, TokenFacts } from '../facts.ts'
import type { LogPlace } from '../read/decode-events.ts'
import type { PolicyEvent } from '../read/decode-policy-events.ts'
import { describeEvent, historyOf } from '../report/describe-event.ts'
import { showBlock } from '../show.ts'

/** The position of a reader in the history: everything up to and including this log has been reported. */
export type Cursor = { block: bigint; logIndex: number }

export type Change = {
  cursor: Cursor
  kind: string
  /** Tells changes of one kind at one place apart. */
  ordinal?: number
  data: { [key: string]: Json }
}

const lastLog = 1_000_000

export const cursorText = ({ block, logIndex }: Cursor) => `${block}-${logIndex}`

export function parseCursor(text: string): Cursor | undefined {
  const match = /^(0|[1-9][0-9]{0,14})-(0|[1-9][0-9]{0,6})$/.exec(text)
  return match ? { block: BigInt(match[1] ?? '0'), logIndex: Number(match[2]) } : undefined
}

/** The whole block has been reported. */
export const endOf = (block: bigint): Cursor => ({ block, logIndex: lastLog })

const isAfter = (event: LogPlace, { block, logIndex }: Cursor) =>
  event.blockNumber > block || (event.blockNumber === block && event.logIndex > logIndex)

/** What logs of the token and of the lists it follows tell beyond the cursor. */
export function loggedChanges(facts: TokenFacts, cursor: Cursor): Change[] {
  return historyOf(facts)
    .filter((event) => isAfter(event, cursor))
    .map((event) => ({
      cursor: { block: event.blockNumber, logIndex: event.logIndex },
      kind: event.kind,
      data: describeEvent(event),
    }))
}

/** What changed without a log: a matured multiplier, the verdict, a lost past, or a list whose log is missing. */
export function silentChanges(before: Checked, after: Checked): Change[] {
  const changes: Change[] = []
  const cursor = endOf(after.facts.block.number)
  const add = (kind: string, text: string, more: { [key: string]: Json } = {}) =>
    changes.push({
      cursor,
      kind,
      ordinal: changes.length,
      data: { kind, text, block_number: String(after.facts.block.number), ...more },
    })
  const still = new Set(after.facts.events.map(eventKey))
  for (const event of before.facts.events)
    if (!still.has(eventKey(event)))
      add('retracted', 'A change reported before is no longer part of the chain.', { retracted: describeEvent(event) })
  const stillListed = new Set(after.facts.policyEvents.map(eventKey))
  for (const event of before.facts.policyEvents)
    if (after.facts.policyEventsLeftOut === 0 && isFollowed(after.facts, event) && !stillListed.has(eventKey(event)))
      add('retracted', 'A change reported before is no longer part of the chain.', { retracted: describeEvent(event) })
  const known = new Set(before.facts.policyEvents.map(eventKey))
  const logged = new Set(
    after.facts.policyEvents.flatMap((event) => (known.has(eventKey(event)) ? [] : event.policyId)),
  )
  for (const [id, policy] of after.facts.policies) {
    const old = before.facts.policies.get(id)
    // What a log reports is reported once; a list that changes without a log is reported as well.
    if (old !== undefined && !logged.has(id))
      for (const text of policyDifferences(old, policy)) add('policy_changed', text, { policy_id: String(id) })
  }
  if (hasMatured(before.facts, after.facts)) add('multiplier_took_effect', 'The scheduled multiplier is in force.')
  if (
    before.evaluation.verdict !== after.evaluation.verdict ||
    before.evaluation.complete !== after.evaluation.complete
  )
    add('verdict_changed', `The verdict was ${before.evaluation.verdict} and is ${after.evaluation.verdict}.`, {
      verdict: after.evaluation.verdict,
      complete: after.evaluation.complete,
      block: showBlock(after.facts.block),
    })
  return changes
}

/** Events of a list that the token no longer follows are not lost, they are only none of its business any more. */
const isFollowed = (facts: TokenFacts, { policyId }: PolicyEvent) =>
  facts.policies.has(policyId) && facts.policies.get(policyId)?.membersComplete === true

const eventKey = (event: LogPlace) => `${event.blockHash}:${event.logIndex}`

function policyDifferences(old: PolicyFacts, now: PolicyFacts): string[] {
  const texts: string[] = []
  if (old.admin.known && now.admin.known && old.admin.value !== now.admin.value)
    texts.push(
      `The admin of policy ${now.id} is ${checksumAddress(now.admin.value)} instead of ${checksumAddress(old.admin.value)}.`,
    )
  if (old.pendingAdmin.known && now.pendingAdmin.known && old.pendingAdmin.value !== now.pendingAdmin.value)
    texts.push(`The pending admin of policy ${now.id} is ${checksumAddress(now.pendingAdmin.value)}.`)
  if (old.children.known && now.children.known && old.children.value.join() !== now.children.value.join())
    texts.push(`Policy ${now.id} combines ${now.children.value.join(', ')}.`)
  for (const account of now.members)
    if (!old.members.includes(account))
      texts.push(`${checksumAddress(account)} was put on the list of policy ${now.id}.`)
  for (const account of old.members)
    if (!now.members.includes(account))
      texts.push(`${checksumAddress(account)} was taken off the list of policy ${now.id}.`)
  return texts
}

function hasMatured(before: TokenFacts, after: TokenFacts): boolean {
  const pending = before.multiplier?.known ? before.multiplier.value.pending : undefined
  return pending !== undefined && after.block.timestamp >= pending.effectiveAt
}
