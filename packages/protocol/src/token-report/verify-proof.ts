import { fromRlp } from 'viem/utils'
import type { EvidenceCheck } from '../evidence/verify-evidence.ts'
import { isRecord } from '../json-object.ts'
import { proveTrieValue } from './merkle-proof.ts'

type Hex = `0x${string}`
type Words = Map<string, bigint>

const registryAddress = '0x8453000000000000000000000000000000000002'
const isHex = (value: unknown): value is Hex => typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value)
const isHexList = (value: unknown): value is Hex[] => Array.isArray(value) && value.every(isHex)

/** Storage proofs in a report: each slot against the state root of the block, and what they say against the report. */
export function proofCheck(report: Record<string, unknown>): EvidenceCheck | undefined {
  const { proof, block, address } = report
  if (proof === undefined) return undefined
  const fail = (detail: string): EvidenceCheck => ({ name: 'proof', status: 'failed', detail })
  if (!isRecord(proof) || !isRecord(block) || !isHex(proof.state_root)) return fail('the proof cannot be read')
  if (proof.state_root !== block.state_root) return fail('the proof is of another block')
  const token = provenWords(proof.state_root, address, proof.token, proof.slots)
  if (token === undefined) return fail('a slot of the token is not what the state root commits to')
  const registry =
    proof.registry === null
      ? new Map<string, bigint>()
      : provenWords(proof.state_root, registryAddress, proof.registry, proof.registry_slots)
  if (registry === undefined) return fail('a slot of the policy registry is not what the state root commits to')
  const wrong = contradiction(report, token, registry)
  if (wrong !== undefined) return fail(wrong)
  return {
    name: 'proof',
    status: 'passed',
    detail: `${token.size + registry.size} storage slots follow from the state root and fit the report`,
  }
}

/** Slot name to value, if every single one follows from the root. */
function provenWords(root: Hex, address: unknown, given: unknown, slots: unknown): Words | undefined {
  if (!isHex(address) || !isRecord(given) || !isRecord(slots) || !isHexList(given.accountProof)) return undefined
  const account = proveTrieValue(root, address.toLowerCase() as Hex, given.accountProof)
  const storageRoot = account ? storageRootOf(account) : undefined
  if (storageRoot === undefined || !Array.isArray(given.storageProof)) return undefined
  const words: Words = new Map()
  for (const [name, slot] of Object.entries(slots)) {
    const entry = given.storageProof.find(
      (one) => isRecord(one) && isHex(one.key) && isHex(slot) && same(one.key, slot),
    )
    if (!isRecord(entry) || !isHexList(entry.proof) || !isHex(entry.value) || !isHex(slot)) return undefined
    const stored = proveTrieValue(storageRoot, slot, entry.proof)
    if (stored === undefined) return undefined
    const value = stored === null ? 0n : wordIn(stored)
    if (value === undefined || value !== BigInt(entry.value)) return undefined
    words.set(name, value)
  }
  return words
}

const same = (one: Hex, other: Hex) => one.length > 2 && other.length > 2 && BigInt(one) === BigInt(other)

function storageRootOf(account: Hex): Hex | undefined {
  const fields = decode(account)
  const root = Array.isArray(fields) && fields.length === 4 ? fields[2] : undefined
  return isHex(root) && root.length === 66 ? root : undefined
}

function wordIn(stored: Hex): bigint | undefined {
  const value = decode(stored)
  return isHex(value) ? BigInt(value === '0x' ? 0 : value) : undefined
}

function decode(bytes: Hex): unknown {
  try {
    return fromRlp(bytes, 'hex')
  } catch {
    return undefined
  }
}

/** What the report says in words must be what the slots hold. */
function contradiction(report: Record<string, unknown>, token: Words, registry: Words): string | undefined {
  const { completeness, supply } = report
  if (isRecord(completeness) && String(token.get('adminCount')) !== completeness.admin_count)
    return 'the number of admins is another one in storage'
  if (isRecord(supply) && String(token.get('totalSupply')) !== supply.total)
    return 'the supply is another one in storage'
  for (const [name, value] of token)
    if (name.startsWith('roles.') && value !== 1n) return `storage does not confirm ${name}`
  for (const [name, value] of registry)
    if (name.startsWith('policies.') && value >> 255n !== 1n) return `storage does not confirm that ${name} exists`
  return undefined
}
