import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { type ReportedSlot, storageOf } from '@assay/protocol/token-report/b20-storage'
import { Problem } from '@assay/till/kernel/problem'
import { policyRegistryAddress } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import { agree, askAll, type Panel } from '../read/panel.ts'
import { blockParameter } from '../read/views.ts'

// Some nodes refuse longer lists of slots in one question.
const slotsAtOnce = 256

/** Merkle proofs of every slot behind a report, so that a third party can check it against the state root. */
export async function readProof(panel: Panel, facts: TokenFacts, report: Record<string, unknown>): Promise<Json> {
  const at = blockParameter(facts.block)
  const { token, registry } = storageOf(report)
  const ofToken = askProof(panel, facts.token, token, at)
  const ofRegistry = registry.length === 0 ? null : askProof(panel, policyRegistryAddress, registry, at)
  return {
    block_hash: facts.block.hash,
    state_root: facts.block.stateRoot,
    slots: namesOf(token),
    token: await ofToken,
    registry_slots: namesOf(registry),
    registry: await ofRegistry,
    note: 'An account proof shows storage; on an embedded chain its code hash is that of a stand-in.',
  }
}

const namesOf = (slots: readonly ReportedSlot[]) => Object.fromEntries(slots.map(({ name, slot }) => [name, slot]))

async function askProof(panel: Panel, address: Address, slots: readonly ReportedSlot[], at: unknown): Promise<Json> {
  const wanted = [...new Set(slots.map(({ slot }) => slot))]
  const parts: Record<string, Json>[] = []
  for (let from = 0; from < wanted.length; from += slotsAtOnce)
    parts.push(await askSome(panel, address, wanted.slice(from, from + slotsAtOnce), at))
  const storageProof = parts.flatMap((part) => (Array.isArray(part.storageProof) ? part.storageProof : []))
  return { ...parts[0], storageProof }
}

async function askSome(
  panel: Panel,
  address: Address,
  slots: readonly Hex[],
  at: unknown,
): Promise<Record<string, Json>> {
  const replies = await askAll(panel, [{ method: 'eth_getProof', params: [address, slots, at] }])
  const answers = replies.map(([reply]) =>
    reply?.ok && typeof reply.value === 'object' ? (reply.value as Record<string, Json>) : undefined,
  )
  const outcome = agree(panel, answers, (answer) => canonicalJson(answer))
  if (outcome.status === 'agreed' && outcome.value !== null) return outcome.value
  throw new Problem('upstream_unavailable', {
    detail: 'The proof could not be read.',
    extra: { reason: 'proof_unread' },
  })
}
