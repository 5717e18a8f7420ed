import type { Json } from '@assay/protocol/canonical-json'
import type { PublishedStatement } from '@assay/protocol/keys/key-statement'
import type { AttestMessage } from '@assay/protocol/typed-data/eas'
import type { Sql } from '@assay/till/store/database'
import type { LogProof } from '../../../tlog/index.ts'
import { type PayoutView, readPayouts } from '../creators/describe-payout.ts'
import { attestationPackage } from './attester.ts'
import type { AttestDeps } from './deps.ts'
import { type AnchorView, describeAnchor } from './describe-anchor.ts'
import { attestedFacts, messageOver } from './sign-record.ts'
import type { AttestationRow } from './store.ts'

export type AttestationView = {
  id: string
  url: string
  record: Json
  attestation: Json
  split: { price_micro: string; creator_micro: string; toll_micro: string }
  payouts: PayoutView[]
  /** Empty unless it weighs nothing in the score. */
  weight: { counts: boolean; reasons: string[] }
  log:
    | ({ state: 'logged'; keys: string[]; key_statements: PublishedStatement[]; anchor?: AnchorView } & LogProof)
    | { state: 'pending'; url: string }
}

type DescribeDeps = Pick<AttestDeps, 'clock' | 'apiUrl' | 'settings' | 'tree'> & {
  database: Sql
  witnessKeys?: () => readonly string[]
}

/** The public view of an attestation: complete, so that a saved copy can be checked without asking anybody. */
export async function describeAttestation(deps: DescribeDeps, row: AttestationRow): Promise<AttestationView> {
  const [payouts, proof] = await Promise.all([
    readPayouts(deps.database, row.id, payoutOptions(deps)),
    deps.tree.proofOf(row.id, 'witnessed'),
  ])
  const view = newAttestation(deps, { row, message: messageOf(row) }, payouts)
  return { ...view, log: await describeLog(deps, view.url, proof) }
}

/** What was signed over the record of a row. */
export const messageOf = ({ id, record }: AttestationRow): AttestMessage =>
  messageOver(id, record, attestedFacts(JSON.parse(record)))

/** The same of one whose entry has no place in the log yet. */
export function newAttestation(
  { apiUrl }: Pick<DescribeDeps, 'apiUrl'>,
  { row, message }: { row: AttestationRow; message: AttestMessage },
  payouts: PayoutView[],
): AttestationView {
  const record = JSON.parse(row.record) as { price_micro: string; creator_micro: string; toll_micro: string }
  const url = `${apiUrl}/v1/attestations/${row.id}`
  return {
    id: row.id,
    url,
    record: record as unknown as Json,
    attestation: attestationPackage(message, row.signed),
    split: {
      price_micro: record.price_micro,
      creator_micro: record.creator_micro,
      toll_micro: record.toll_micro,
    },
    payouts,
    weight: { counts: row.wash.length === 0, reasons: row.wash },
    log: { state: 'pending', url },
  }
}

export const payoutOptions = (deps: Pick<DescribeDeps, 'clock' | 'settings' | 'apiUrl'>) => ({
  nowMs: deps.clock.nowMs(),
  waitMs: deps.settings.waitMs,
  releaseMs: deps.settings.releaseMs,
  apiUrl: deps.apiUrl,
})

/** With the head on chain that holds the entry, once there is one. */
export async function describeLog(
  deps: Pick<DescribeDeps, 'tree' | 'witnessKeys' | 'database'>,
  url: string,
  proof: LogProof | undefined,
): Promise<AttestationView['log']> {
  const anchor = proof && (await describeAnchor(deps, proof))
  return { ...withKeys(deps, url, proof), ...(anchor ? { anchor } : {}) }
}

export function withKeys(
  deps: Pick<DescribeDeps, 'tree' | 'witnessKeys'>,
  url: string,
  proof: LogProof | undefined,
): AttestationView['log'] {
  if (!proof) return { state: 'pending', url }
  return { state: 'logged', ...proof, ...keysBehind(deps, proof) }
}

/** The keys that signed the head, those of the witnesses, and how to get to all of them from one that is trusted. */
const keysBehind = ({ tree, witnessKeys }: Pick<DescribeDeps, 'tree' | 'witnessKeys'>, proof: LogProof) => ({
  keys: tree.keysOf(proof.checkpoint),
  witness_keys: [...new Set([...(witnessKeys?.() ?? []), ...proof.witness_keys])],
  key_statements: tree.keyStatements(),
})
