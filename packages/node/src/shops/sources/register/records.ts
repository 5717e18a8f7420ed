import type { Address } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'
import type { Homograph } from '../domain/homograph.ts'
import type { ProofMethod, ProofRecord } from '../proof/check-claim.ts'
import type { ProofEvidence } from '../proof/gather-proof.ts'
import type { CreatorRule } from '../terms/creator-rules.ts'

export type SourceState = 'registered' | 'proving' | 'proven' | 'disputed' | 'held' | 'refused'
export const sourceStates: readonly SourceState[] = ['registered', 'proving', 'proven', 'disputed', 'held', 'refused']

export type SourceRow = {
  domain: string
  registrable: string
  display: string
  homograph: Homograph | null
  origin: string
  state: SourceState
  state_reason: string
  sitemap: string | null
  pages_max: number | null
  creator_terms: CreatorRule[] | null
  synthetic: boolean
  proven_claim: string | null
  checked_at: Date | null
  last_check: ProofEvidence | null
  cite_score: number | null
  confidence: number | null
  scored_at: Date | null
  registered_at: Date
  updated_at: Date
}

/** `open` is a claim without proof, which is shown and not kept. */
export type ClaimState = 'open' | 'waiting' | 'proven' | 'superseded' | 'lost'

export type ClaimRow = {
  id: string
  domain: string
  wallet: Address
  contact: string | null
  kind: 'claim' | 'wallet_change'
  consented: boolean
  agreed_wallet: Address | null
  /** What is published for it; null for the id. */
  account: string | null
  token: string
  token_expires_at: Date
  state: ClaimState
  method: ProofMethod | null
  proof: ProofRecord | null
  proven_at: Date | null
  dns_proven_at: Date | null
  wallet_proven_at: Date | null
  takes_over_at: Date | null
  failures: number
  checked_at: Date | null
  next_check_at: Date | null
  report: { status: string; notes: Partial<Record<ProofMethod, string>> } | null
  created_at: Date
}

export async function findSource(sql: Sql, domain: string): Promise<SourceRow | undefined> {
  const { rows } = await sql.query<SourceRow>('select * from source where domain = $1', [domain])
  return rows[0]
}

/** Claims with a proof: the holder and those that contest it, oldest first. */
export async function liveClaims(sql: Sql, domain: string): Promise<ClaimRow[]> {
  const { rows } = await sql.query<ClaimRow>(
    `select * from source_claim where domain = $1 and state in ('waiting', 'proven') order by created_at, id`,
    [domain],
  )
  return rows
}

/** Taken by everything that changes the claims of a domain, so that two proofs cannot both be the first. */
export async function lockSource(sql: Sql, domain: string): Promise<SourceRow | undefined> {
  const { rows } = await sql.query<SourceRow>('select * from source where domain = $1 for update', [domain])
  return rows[0]
}
