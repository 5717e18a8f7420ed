import { fromRlp } from 'viem/utils'
import { failed, passed } from '../evidence/attestation-file.ts'
import type { EvidenceCheck } from '../evidence/verify-evidence.ts'
import { isRecord } from '../json-object.ts'
import { type ReportedSlot, registryAddress, storageOf } from './b20-storage.ts'
import { proveTrieValue } from './merkle-proof.ts'

type Hex = `0x${string}`

const isHex = (value: unknown): value is Hex => typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value)
const isHexList = (value: unknown): value is Hex[] => Array.isArray(value) && value.every(isHex)

/** Storage proofs inside a report, against the state root that it names. */
export function proofCheck(report: Record<string, unknown>): EvidenceCheck | undefined {
  const { proof, block } = report
  if (proof === undefined) return undefined
  if (!isRecord(proof) || !isRecord(block)) return failed('proof', 'the proof cannot be read')
  if (proof.state_root !== block.state_root) return failed('proof', 'the proof is of another block')
  return storageCheck('proof', report, proof)
}

/** Every slot behind the report must follow from its state root and hold what the report says. */
export function storageCheck(
  name: string,
  report: Record<string, unknown>,
  proofs: Record<string, unknown>,
): EvidenceCheck {
  const root = isRecord(report.block) ? report.block.state_root : undefined
  if (!isHex(root)) return failed(name, 'the state root cannot be read')
  let slots: ReturnType<typeof storageOf>
  try {
    slots = storageOf(report)
  } catch (error) {
    return failed(name, error instanceof TypeError ? error.message : 'the report cannot be read')
  }
  const parts = [
    ['the token', report.address, proofs.token, slots.token],
    ['the policy registry', registryAddress, proofs.registry, slots.registry],
  ] as const
  for (const [whose, address, given, wanted] of parts) {
    if (wanted.length === 0) continue
    const wrong = firstWrong(root, address, given, wanted)
    if (wrong !== undefined) return failed(name, `${wrong} of ${whose} is not what the state root commits to`)
  }
  const rest = slots.leftOut === 0 ? '' : `; ${slots.leftOut} listed accounts are not covered`
  const count = slots.token.length + slots.registry.length
  return passed(name, `${count} storage slots follow from the state root and hold what the report says${rest}`)
}

/** The name of the first slot that does not follow from the root, or holds something else. */
function firstWrong(root: Hex, address: unknown, given: unknown, wanted: readonly ReportedSlot[]): string | undefined {
  const read = storageReader(root, address, given)
  return wanted.find(({ slot, fits }) => {
    const word = read(slot)
    return word === undefined || !fits(word)
  })?.name
}

/** Words of one account by an eth_getProof answer; undefined for every slot that the answer does not prove. */
export function storageReader(root: Hex, address: unknown, given: unknown): (slot: Hex) => bigint | undefined {
  const storageRoot = storageRootOf(root, address, given)
  const entries = new Map<bigint, Record<string, unknown>>()
  if (isRecord(given) && Array.isArray(given.storageProof))
    for (const one of given.storageProof)
      if (isRecord(one) && isHex(one.key) && one.key.length > 2) entries.set(BigInt(one.key), one)
  return (slot) => {
    const entry = entries.get(BigInt(slot))
    if (storageRoot === undefined || entry === undefined || !isHexList(entry.proof)) return undefined
    const stored = proveTrieValue(storageRoot, slot, entry.proof)
    if (stored === undefined) return undefined
    const value = stored === null ? 0n : wordIn(stored)
    return value !== undefined && isHex(entry.value) && value === BigInt(entry.value) ? value : undefined
  }
}

/** Storage root of an account that exists under this state root. */
export function storageRootOf(root: Hex, address: unknown, given: unknown): Hex | undefined {
  if (!isHex(address) || !isRecord(given) || !isHexList(given.accountProof)) return undefined
  const account = proveTrieValue(root, address.toLowerCase() as Hex, given.accountProof)
  const fields = account ? decode(account) : undefined
  const storageRoot = Array.isArray(fields) && fields.length === 4 ? fields[2] : undefined
  return isHex(storageRoot) && storageRoot.length === 66 ? storageRoot : undefined
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
