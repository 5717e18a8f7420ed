import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { type AttestMessage, type CitationData, citationMessage, zeroBytes32 } from '@assay/protocol/typed-data/eas'
import { sha256 } from '@assay/till/kernel/bytes'
import type { CitationAttester, SignedAttestation } from './attester.ts'

/** What is signed and logged: the record as canonical JSON, bound to the attestation by its digest. */
export type SignedRecord = { text: string; message: AttestMessage; signed: SignedAttestation }

/** What is attested about a record. */
export type AttestedFacts = {
  data: Omit<CitationData, 'recordSha256'>
  recipient: Address | undefined
  seconds: number
}

export function signRecord(
  attester: CitationAttester,
  { id, record, ...facts }: AttestedFacts & { id: string; record: { [key: string]: Json } },
): SignedRecord {
  const text = canonicalJson(record)
  const message = messageOver(id, text, facts)
  return { text, message, signed: attester.sign(message) }
}

/** The same for the same record, whenever it is asked for. */
export const messageOver = (id: string, text: string, { data, ...facts }: AttestedFacts): AttestMessage =>
  citationMessage({
    ...facts,
    data: { ...data, recordSha256: toHex(sha256(text)) },
    // Derived, so that a sale finished a second time signs the very same attestation.
    salt: toHex(sha256(`assay attestation ${id}`)),
  })

type RecordedPage = { source_url: string; content_sha256: Hex; text_sha256: Hex; creator_wallet: string | null }

/** The parts of the record of a citation or a claim that are attested. Of the pages of a claim it is the first. */
type AttestedRecord = Partial<RecordedPage> & {
  agent_wallet: string
  payer: string
  price_micro: string
  attested_at: string
  claim_sha256: Hex | null
  quote?: { found: boolean; sha256: Hex } | null
  sources?: readonly RecordedPage[]
}

/** Nothing is attested that the record does not say: what is kept beside it is the signature alone. */
export function attestedFacts(recorded: { [key: string]: Json }): AttestedFacts {
  const record = recorded as unknown as AttestedRecord
  const page = (record.sources?.[0] ?? record) as RecordedPage
  return {
    data: {
      sourceUrl: page.source_url,
      contentSha256: page.content_sha256,
      textSha256: page.text_sha256,
      quoteSha256: record.quote?.found ? record.quote.sha256 : zeroBytes32,
      claimSha256: record.claim_sha256 ?? zeroBytes32,
      agent: parseAddress(record.agent_wallet) as Address,
      payer: parseAddress(record.payer) as Address,
      priceMicro: BigInt(record.price_micro),
    },
    recipient: page.creator_wallet === null ? undefined : parseAddress(page.creator_wallet),
    seconds: Math.floor(Date.parse(record.attested_at) / 1000),
  }
}

export const checksumOrNull = (address: Address | undefined): Hex | null =>
  address === undefined ? null : checksumAddress(address)
