import { type Address, checksumAddress } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { type CitationData, citationMessage } from '@assay/protocol/typed-data/eas'
import { sha256 } from '@assay/till/kernel/bytes'
import type { CitationAttester, SignedAttestation } from './attester.ts'

/** What is signed and logged: the record as canonical JSON, bound to the attestation by its digest. */
export type SignedRecord = { text: string; signed: SignedAttestation }

export function signRecord(
  attester: CitationAttester,
  facts: {
    id: string
    record: { [key: string]: Json }
    data: Omit<CitationData, 'recordSha256'>
    recipient: Address | undefined
    seconds: number
  },
): SignedRecord {
  const text = canonicalJson(facts.record)
  const message = citationMessage({
    data: { ...facts.data, recordSha256: toHex(sha256(text)) },
    recipient: facts.recipient,
    seconds: facts.seconds,
    // Derived, so that a sale finished a second time signs the very same attestation.
    salt: toHex(sha256(`assay attestation ${facts.id}`)),
  })
  return { text, signed: attester.sign(message) }
}

export const checksumOrNull = (address: Address | undefined): Hex | null =>
  address === undefined ? null : checksumAddress(address)
