import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { topicHashes } from '../abi/b20.ts'
import type { LogPlace, RawLog } from './decode-events.ts'
import { readAddress, readUint, readUintArray } from './words.ts'

/** What a log of the registry says about a policy. The token itself says nothing when its lists change. */
export type PolicyChange =
  | { kind: 'policy_created'; creator: Address }
  | { kind: 'policy_listed' | 'policy_unlisted'; updater: Address; accounts: readonly Address[] }
  | { kind: 'policy_admin_staged' | 'policy_admin_changed'; from: Address; to: Address }
  | { kind: 'policy_children_changed'; updater: Address; children: readonly bigint[] }

export type PolicyEvent = PolicyChange & LogPlace & { policyId: bigint }

const topic = topicHashes
const membershipTopics: Hex[] = [
  topic['AllowlistUpdated(uint64,address,bool,address[])'],
  topic['BlocklistUpdated(uint64,address,bool,address[])'],
]
const createdTopic = topic['PolicyCreated(uint64,address,uint8)']
const stagedTopic = topic['PolicyAdminStaged(uint64,address,address)']
const adminTopic = topic['PolicyAdminUpdated(uint64,address,address)']
const compositeTopic = topic['CompositePolicyUpdated(uint64,address,uint64[])']

export const policyTopics: Hex[] = [...membershipTopics, createdTopic, stagedTopic, adminTopic, compositeTopic]

const childrenMax = 16

/** Undefined for a log that does not have the form its topic promises. */
export function decodePolicyEvent(log: RawLog): PolicyEvent | undefined {
  const policyId = readUint(log.topics[1] ?? '0x', 64)
  const change = changeOf(log)
  if (policyId === undefined || change === undefined) return undefined
  const { blockNumber, blockHash, transaction, logIndex } = log
  return { ...change, policyId, blockNumber, blockHash, transaction, logIndex }
}

function changeOf(log: RawLog): PolicyChange | undefined {
  const first = log.topics[0] as Hex
  const who = readAddress(log.topics[2] ?? '0x')
  if (who === undefined) return undefined
  if (membershipTopics.includes(first)) return membershipOf(log, who)
  if (first === createdTopic) return { kind: 'policy_created', creator: who }
  if (first === stagedTopic || first === adminTopic) {
    const to = readAddress(log.topics[3] ?? '0x')
    const kind = first === stagedTopic ? 'policy_admin_staged' : 'policy_admin_changed'
    return to === undefined ? undefined : { kind, from: who, to }
  }
  if (first !== compositeTopic) return undefined
  const children = readUintArray(log.data, 64, childrenMax)
  return children === undefined ? undefined : { kind: 'policy_children_changed', updater: who, children }
}

const accountsMax = 4_096
const word = (log: RawLog, index: number): Hex => `0x${log.data.slice(2 + index * 64, 66 + index * 64)}`

/** Who was put on or taken off a list. */
function membershipOf(log: RawLog, updater: Address): PolicyChange | undefined {
  const listed = readUint(word(log, 0), 1)
  const offset = readUint(word(log, 1), 32)
  const count = readUint(word(log, 2), 32)
  if (listed === undefined || offset !== 64n || count === undefined || count > accountsMax) return undefined
  if (log.data.length !== 2 + 64 * (3 + Number(count))) return undefined
  const accounts: Address[] = []
  for (let i = 0; i < Number(count); i += 1) {
    const account = readAddress(word(log, 3 + i))
    if (account === undefined) return undefined
    accounts.push(account)
  }
  return { kind: listed === 1n ? 'policy_listed' : 'policy_unlisted', updater, accounts }
}
