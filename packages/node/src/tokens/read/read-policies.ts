import type { Address } from '../../kernel/address.ts'
import type { Hex } from '../../kernel/bytes.ts'
import { policyRegistryAddress, topicHashes } from '../abi/b20.ts'
import type { PinnedBlock, PolicyFacts } from '../facts.ts'
import { known, unknown } from '../facts.ts'
import { decodePolicyId, isComposite } from '../policy-id.ts'
import { calls } from './calls.ts'
import { collectLogs, type LogSource } from './collect-logs.ts'
import { decodeMembership, membershipTopics, type RawLog } from './decode-events.ts'
import type { Desk } from './desk.ts'
import { encodeWord, readAddress, readBool, readUintArray } from './words.ts'

/** What logs say about a policy: candidates for admins, members and children. */
export type PolicyHints = {
  accounts: Set<Address>
  members: Set<Address>
  children: Set<bigint>
  complete: boolean
}

const adminTopics = [
  topicHashes['PolicyAdminStaged(uint64,address,address)'],
  topicHashes['PolicyAdminUpdated(uint64,address,address)'],
]
const compositeTopic = topicHashes['CompositePolicyUpdated(uint64,address,uint64[])']
const createdTopic = topicHashes['PolicyCreated(uint64,address,uint8)']
const allTopics: Hex[] = [...membershipTopics, ...adminTopics, compositeTopic, createdTopic]

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
    const filter = { address: policyRegistryAddress, topics: [allTopics, `0x${encodeWord(base)}` as Hex] }
    const { logs, coverage } = await collectLogs(source, block, `policy:${base}`, filter, floorBlock)
    hints.set(base, hintsOf(logs, coverage.gaps.length === 0))
  }
  await Promise.all(customBases(bound).map(collect))
  const children = customBases([...hints.values()].flatMap((hint) => [...hint.children]))
  await Promise.all(children.filter((base) => !hints.has(base)).map(collect))
  return hints
}

function hintsOf(logs: readonly RawLog[], covered: boolean): PolicyHints {
  const hints: PolicyHints = { accounts: new Set(), members: new Set(), children: new Set(), complete: covered }
  for (const log of logs) {
    if (membershipTopics.includes(log.topics[0] as Hex)) {
      const change = decodeMembership(log)
      if (change === undefined) hints.complete = false
      for (const account of change?.accounts ?? []) {
        if (change?.listed) hints.members.add(account)
        else hints.members.delete(account)
      }
    } else if (log.topics[0] === compositeTopic) {
      for (const child of readUintArray(log.data, 64, 16) ?? []) hints.children.add(child)
    } else
      for (const topic of log.topics.slice(2)) {
        const account = readAddress(topic)
        if (account !== undefined) hints.accounts.add(account)
      }
  }
  // A list that was never begun cannot be complete: its making is a log too.
  if (!logs.some((log) => log.topics[0] === createdTopic)) hints.complete = false
  return hints
}

// More than this many listed accounts are counted, not confirmed one by one.
const membersMax = 500

export function askPolicy(desk: Desk, base: bigint, hints: PolicyHints | undefined): void {
  desk.ask(calls.policy('policyExists(uint64)', base))
  desk.ask(calls.policy('policyAdmin(uint64)', base))
  desk.ask(calls.policy('pendingPolicyAdmin(uint64)', base))
  if (isComposite(decodePolicyId(base))) desk.ask(calls.policy('compositePolicyChildIds(uint64)', base))
  for (const account of [...(hints?.members ?? [])].slice(0, membersMax)) desk.ask(calls.authorized(base, account))
}

/** A policy as the views give it; members are those the logs name and the view confirms. */
export function policyFacts(desk: Desk, base: bigint, hints: PolicyHints | undefined): PolicyFacts {
  const { kind } = decodePolicyId(base)
  const candidates = [...(hints?.members ?? [])]
  const asked = candidates.slice(0, membersMax)
  const authorizedWhenListed = kind === 'allowlist'
  const answers = asked.map((account) => desk.fact(calls.authorized(base, account), readBool))
  const members = asked.filter((_, i) => {
    const answer = answers[i]
    return answer?.known === true && answer.value === authorizedWhenListed
  })
  return {
    id: base,
    exists: desk.fact(calls.policy('policyExists(uint64)', base), readBool),
    admin: desk.fact(calls.policy('policyAdmin(uint64)', base), readAddress),
    pendingAdmin: desk.fact(calls.policy('pendingPolicyAdmin(uint64)', base), readAddress),
    children:
      kind === 'union' || kind === 'intersect'
        ? desk.fact(calls.policy('compositePolicyChildIds(uint64)', base), (data) => readUintArray(data, 64, 16))
        : kind === undefined
          ? unknown('garbled')
          : known([]),
    members,
    membersComplete:
      hints?.complete === true && asked.length === candidates.length && members.length === candidates.length,
  }
}
