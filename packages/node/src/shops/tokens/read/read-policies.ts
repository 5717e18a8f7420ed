import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { policyRegistryAddress } from '../abi/b20.ts'
import type { PinnedBlock, PolicyFacts } from '../facts.ts'
import { known, unknown } from '../facts.ts'
import { decodePolicyId, isComposite } from '../policy-id.ts'
import { calls } from './calls.ts'
import { type Collected, collectLogs, type LogSource } from './collect-logs.ts'
import type { RawLog } from './decode-events.ts'
import { decodePolicyEvent, type PolicyEvent, policyTopics } from './decode-policy-events.ts'
import type { Questions } from './questions.ts'
import { encodeWord, readAddress, readBool, readUintArray } from './words.ts'

/** What logs say about a policy: candidates for admins, members and children. */
export type PolicyHints = {
  accounts: Set<Address>
  members: Set<Address>
  children: Set<bigint>
  events: PolicyEvent[]
  complete: boolean
}

/** A custom policy lives in the registry; the two built-in ones have nothing to read. */
export function customBases(ids: Iterable<bigint>): bigint[] {
  const bases = [...ids].map(decodePolicyId).filter((policy) => policy.builtIn === undefined)
  return [...new Set(bases.map((policy) => policy.base))]
}

/** Logs of the bound policies and, one level down, of their children. */
export async function collectPolicyHints(
  source: LogSource,
  block: PinnedBlock,
  bound: readonly bigint[],
  floorBlock: bigint,
): Promise<Map<bigint, PolicyHints>> {
  const hints = new Map<bigint, PolicyHints>()
  const collect = async (base: bigint) => {
    const { logs, coverage } = await collectPolicyLogs(source, block, base, floorBlock)
    hints.set(base, hintsOf(logs, coverage.gaps.length === 0))
  }
  await Promise.all(customBases(bound).map(collect))
  const children = customBases([...hints.values()].flatMap((hint) => [...hint.children]))
  await Promise.all(children.filter((base) => !hints.has(base)).map(collect))
  return hints
}

export function collectPolicyLogs(
  source: LogSource,
  block: PinnedBlock,
  base: bigint,
  floorBlock: bigint,
): Promise<Collected> {
  const filter = { address: policyRegistryAddress, topics: [policyTopics, `0x${encodeWord(base)}` as Hex] }
  return collectLogs(source, block, `policy:${base}`, filter, floorBlock)
}

function hintsOf(logs: readonly RawLog[], covered: boolean): PolicyHints {
  const hints: PolicyHints = {
    accounts: new Set(),
    members: new Set(),
    children: new Set(),
    events: [],
    complete: covered,
  }
  for (const log of logs) {
    const event = decodePolicyEvent(log)
    if (event === undefined) hints.complete = false
    else {
      hints.events.push(event)
      note(hints, event)
    }
  }
  // A list that was never begun cannot be complete: its making is a log too.
  if (!hints.events.some(({ kind }) => kind === 'policy_created')) hints.complete = false
  return hints
}

function note(hints: PolicyHints, event: PolicyEvent): void {
  switch (event.kind) {
    case 'policy_created':
      hints.accounts.add(event.creator)
      return
    case 'policy_listed':
      for (const account of event.accounts) hints.members.add(account)
      return
    case 'policy_unlisted':
      for (const account of event.accounts) hints.members.delete(account)
      return
    case 'policy_admin_staged':
    case 'policy_admin_changed':
      for (const account of [event.from, event.to]) hints.accounts.add(account)
      return
    case 'policy_children_changed':
      for (const child of event.children) hints.children.add(child)
  }
}

// A check asks about this many accounts of a list; the others it knows by the whole logs of the list.
const membersAsked = 5_000
const membersPerPage = 8_000

export function askPolicy(questions: Questions, base: bigint, hints: PolicyHints | undefined): void {
  questions.ask(calls.policy('policyExists(uint64)', base))
  questions.ask(calls.policy('policyAdmin(uint64)', base))
  questions.ask(calls.policy('pendingPolicyAdmin(uint64)', base))
  if (isComposite(decodePolicyId(base))) questions.ask(calls.policy('compositePolicyChildIds(uint64)', base))
  for (const account of [...(hints?.members ?? [])].slice(0, membersAsked))
    questions.ask(calls.authorized(base, account))
}

/** Asks about the accounts of long lists that were not asked about yet, page by page. */
export async function askAllMembers(questions: Questions, hints: ReadonlyMap<bigint, PolicyHints>): Promise<void> {
  for (const [base, { members }] of hints) {
    const rest = [...members].slice(membersAsked)
    for (let at = 0; at < rest.length; at += membersPerPage) {
      for (const account of rest.slice(at, at + membersPerPage)) questions.ask(calls.authorized(base, account))
      await questions.run()
    }
  }
}

/** A policy as the views give it; members are those the logs name and no view denies. */
export function policyFacts(questions: Questions, base: bigint, hints: PolicyHints | undefined): PolicyFacts {
  const { kind } = decodePolicyId(base)
  const composite = kind === 'union' || kind === 'intersect'
  const candidates = [...(hints?.members ?? [])]
  const authorizedWhenListed = kind === 'allowlist'
  const listed = candidates.map((account) => {
    const call = calls.authorized(base, account)
    if (questions.view(call) === undefined) return 'by_logs'
    const answer = questions.fact(call, readBool)
    return !answer.known ? 'unread' : answer.value === authorizedWhenListed ? 'confirmed' : 'denied'
  })
  const members = candidates.filter((_, i) => listed[i] === 'confirmed' || listed[i] === 'by_logs')
  return {
    id: base,
    exists: questions.fact(calls.policy('policyExists(uint64)', base), readBool),
    admin: questions.fact(calls.policy('policyAdmin(uint64)', base), readAddress),
    pendingAdmin: questions.fact(calls.policy('pendingPolicyAdmin(uint64)', base), readAddress),
    children: composite
      ? questions.fact(calls.policy('compositePolicyChildIds(uint64)', base), (data) => readUintArray(data, 64, 16))
      : kind === undefined
        ? unknown('garbled')
        : known([]),
    members,
    // A composite has no separate list: its children are read by a view.
    membersComplete: composite || (hints?.complete === true && members.length === candidates.length),
  }
}
