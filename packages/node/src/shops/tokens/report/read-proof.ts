import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { Problem } from '@assay/till/kernel/problem'
import { concatHex, keccak256 } from 'viem'
import { policyRegistryAddress, registrySlots, roleLabel, tokenSlots } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import { decodePolicyId, isComposite } from '../policy-id.ts'
import { agree, askAll, type Panel } from '../read/panel.ts'
import { blockParameter } from '../read/views.ts'
import { encodeWord } from '../read/words.ts'

const plainSlots = [
  'adminCount',
  'transferPolicyIds',
  'mintPolicyIds',
  'seizePolicyIds',
  'pausedFeatures',
  'supplyCap',
  'totalSupply',
] as const

// Proofs are long: beyond this many slots of one account the rest stays with the views.
const slotsMax = 128

type NamedSlots = Record<string, Hex>

/** Merkle proofs of the slots behind the verdict, so that a third party can check them against the state root. */
export async function readProof(panel: Panel, facts: TokenFacts): Promise<Json> {
  const at = blockParameter(facts.block)
  const [token, registry] = [capped(tokenSlotsOf(facts)), capped(registrySlotsOf(facts))]
  const ofToken = askProof(panel, facts.token, token, at)
  const ofRegistry = Object.keys(registry).length === 0 ? null : askProof(panel, policyRegistryAddress, registry, at)
  return {
    block_hash: facts.block.hash,
    state_root: facts.block.stateRoot,
    slots: token,
    token: await ofToken,
    registry_slots: registry,
    registry: await ofRegistry,
    note: 'An account proof shows storage; on an embedded chain its code hash is that of a stand-in.',
  }
}

const mapped = (key: Hex | bigint, slot: Hex): Hex => keccak256(concatHex([`0x${encodeWord(key)}`, slot]))

/** Admin count, scopes, pause and cap, the admin of every role, and the flag of every confirmed holder. */
function tokenSlotsOf(facts: TokenFacts): NamedSlots {
  const slots: NamedSlots = Object.fromEntries(plainSlots.map((name) => [name, tokenSlots[name]]))
  for (const { role, holders } of facts.roles.values()) {
    slots[`roleAdmins.${roleLabel(role)}`] = mapped(role, tokenSlots.roleAdmins)
    for (const { account } of holders)
      slots[`roles.${roleLabel(role)}.${account}`] = mapped(account, mapped(role, tokenSlots.roles))
  }
  return slots
}

/** Of every policy the token follows: that it exists, who administers it, who may take it over, what it combines. */
function registrySlotsOf(facts: TokenFacts): NamedSlots {
  const slots: NamedSlots = {}
  for (const { id } of facts.policies.values()) {
    slots[`policies.${id}`] = mapped(id, registrySlots.policies)
    slots[`pendingAdmins.${id}`] = mapped(id, registrySlots.pendingAdmins)
    if (!isComposite(decodePolicyId(id))) continue
    const length = mapped(id, registrySlots.children)
    slots[`children.${id}.length`] = length
    // Four ids of 64 bits share a word, and no composite has more children.
    slots[`children.${id}`] = keccak256(length)
  }
  return slots
}

function capped(slots: NamedSlots): NamedSlots {
  return Object.fromEntries(Object.entries(slots).slice(0, slotsMax))
}

async function askProof(panel: Panel, address: Address, slots: NamedSlots, at: unknown): Promise<Json> {
  const replies = await askAll(panel, [{ method: 'eth_getProof', params: [address, Object.values(slots), at] }])
  const answers = replies.map(([reply]) =>
    reply?.ok && typeof reply.value === 'object' ? (reply.value as Json) : undefined,
  )
  const outcome = agree(panel, answers, (answer) => canonicalJson(answer))
  if (outcome.status === 'agreed' && outcome.value !== null) return outcome.value
  throw new Problem('upstream_unavailable', {
    detail: 'The proof could not be read.',
    extra: { reason: 'proof_unread' },
  })
}
