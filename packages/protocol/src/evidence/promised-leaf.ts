import { toBase64 } from '../base64.ts'
import { utf8 } from '../bytes.ts'
import { leafHash } from '../log/merkle.ts'
import type { Receipt } from '../receipt.ts'
import { type CitationAttestation, failed, notChecked, passed } from './attestation-file.ts'
import { recordText } from './check-record.ts'
import type { EvidenceCheck } from './verify-evidence.ts'

/**
 * The receipt of a stamp binds the seller to its leaf. A receipt that verifies, for a leaf that the log does not hold,
 * proves that the seller dropped it.
 */
export function checkPromisedLeaf(receipt: Receipt, file: CitationAttestation): EvidenceCheck {
  if (receipt.log === undefined) return notChecked('leaf', 'the receipt names no entry of a log')
  const { origin, leaf_hash: promised } = receipt.log
  if (promised !== toBase64(leafHash(utf8(recordText(file)))))
    return failed('leaf', 'the receipt promises another entry than this attestation')
  const shown = (file.log as { origin?: string }).origin
  if (shown !== undefined && shown !== origin) return failed('leaf', `the receipt promises a place in ${origin}`)
  return passed('leaf', `the seller signed that this entry gets a place in ${origin}`)
}
