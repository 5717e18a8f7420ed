import type { Address } from '../../kernel/address.ts'
import type { Hex } from '../../kernel/bytes.ts'
import { canonicalJson, type Json } from '../../kernel/canonical-json.ts'
import { Problem } from '../../kernel/problem.ts'
import { tokenSlots } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import { agree, askAll, type Panel } from '../read/panel.ts'
import { blockParameter } from '../read/views.ts'

const provenSlots = [
  'adminCount',
  'transferPolicyIds',
  'mintPolicyIds',
  'seizePolicyIds',
  'pausedFeatures',
  'supplyCap',
] as const

/** Merkle proofs of the slots behind the verdict, so that a third party can check them against the state root. */
export async function readProof(panel: Panel, facts: TokenFacts): Promise<Json> {
  const at = blockParameter(facts.block)
  const slots = provenSlots.map((name) => tokenSlots[name])
  const proof = await askProof(panel, facts.token, slots, at)
  return {
    block_hash: facts.block.hash,
    state_root: facts.block.stateRoot,
    slots: Object.fromEntries(provenSlots.map((name) => [name, tokenSlots[name]])),
    token: proof,
    note: 'The account proof shows storage; on an embedded chain its code hash is that of a stand-in.',
  }
}

async function askProof(panel: Panel, address: Address, slots: readonly Hex[], at: unknown): Promise<Json> {
  const replies = await askAll(panel, [{ method: 'eth_getProof', params: [address, slots, at] }])
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
