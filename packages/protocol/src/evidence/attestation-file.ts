import type { Hex } from 'viem'
import { isRecord } from '../json-object.ts'
import type { EvidenceCheck } from './verify-evidence.ts'

type Message = {
  version: number
  schema: Hex
  recipient: Hex
  time: string
  expirationTime: string
  revocable: boolean
  refUID: Hex
  data: Hex
  salt: Hex
}

/** The attestation of a citation, a claim or a remittance, as the node gives it. */
export type CitationAttestation = {
  id: string
  record: Record<string, unknown> & { type: string; node: string; agent_wallet: string }
  attestation: {
    sig: {
      uid: Hex
      domain: { name: string; version: string; chainId: number; verifyingContract: Hex }
      message: Message
      signature: { r: Hex; s: Hex; v: number }
    }
    signer: Hex
    attester_statement: string
    key_id: string
    public_key: string
  }
  log: {
    state: string
    leaf_index?: string
    tree_size?: string
    inclusion_proof?: string[]
    checkpoint?: string
    keys?: string[]
    witness_keys?: string[]
    key_statements?: unknown[]
  }
}

/** Undefined for anything that is not an attestation of a citation, claim or remittance. */
export function parseAttestation(value: unknown): CitationAttestation | undefined {
  if (!isRecord(value) || !isRecord(value.record) || !isRecord(value.attestation) || !isRecord(value.log))
    return undefined
  const { record, attestation } = value
  if (typeof record.type !== 'string' || typeof record.node !== 'string') return undefined
  if (!/^assay\.(?:citation|claim|royalty)\/v1$/.test(record.type)) return undefined
  const { sig } = attestation
  if (!isRecord(sig) || !isRecord(sig.message) || !isRecord(sig.signature) || !isRecord(sig.domain)) return undefined
  return value as unknown as CitationAttestation
}

export const passed = (name: string, detail: string): EvidenceCheck => ({ name, status: 'passed', detail })
export const failed = (name: string, detail: string): EvidenceCheck => ({ name, status: 'failed', detail })
export const notChecked = (name: string, detail: string): EvidenceCheck => ({ name, status: 'not_checked', detail })

/** What a check found, and the fields of the file that it vouches for, as `a.b[0]`; `a.b.**` is all below. */
export type Finding = { check: EvidenceCheck; covers?: readonly string[] }

/** A file from anywhere may hold anything: what makes a check throw does not verify. */
export async function guarded(name: string, check: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await check()
  } catch {
    return { check: failed(name, 'it cannot be read') }
  }
}
