import type { Address } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'
import { matchSuffix } from '../domain/public-suffix.ts'
import type { ProofMethod } from '../proof/check-claim.ts'
import type { SourceState } from '../register/records.ts'

export type CitedSource = {
  domain: string
  registrable: string
  state: SourceState
  citeScore: number | null
  modelVersion: string | undefined
  synthetic: boolean
  /** Whose proof is valid, by its id; undefined while nobody has proven the domain. */
  claim: { id: string; wallet: Address; method: ProofMethod | null; provenAt: Date | null } | undefined
  /** `held` keeps what is earned until the state is settled; the same for a wallet that has not signed yet. */
  payout: 'unproven' | 'awaiting_wallet_signature' | 'active' | 'held'
}

type Row = {
  domain: string
  registrable: string
  state: SourceState
  cite_score: number | null
  model_version: string | null
  synthetic: boolean
  claim_id: string | null
  wallet: Address | null
  method: ProofMethod | null
  proven_at: Date | null
  wallet_proven_at: Date | null
}

/** Names from the host up to the domain somebody registered. */
function namesOf(host: string): string[] {
  const { registrable } = matchSuffix(host)
  if (registrable === undefined) return []
  const names: string[] = []
  for (let name = host; name.length >= registrable.length; name = name.slice(name.indexOf('.') + 1)) {
    names.push(name)
    if (name === registrable) break
  }
  return names
}

/**
 * The source that a citation of this host belongs to, and who is paid for it. The nearest registered name counts; a
 * name above the host speaks for it only by DNS, since file and tag prove the host that served them and no other.
 */
export async function findCitedSource(sql: Sql, host: string): Promise<CitedSource | undefined> {
  const names = namesOf(host)
  const { rows } = await sql.query<Row>(
    `select s.domain, s.registrable, s.state, s.cite_score, s.synthetic, c.id as claim_id, c.wallet, c.method, c.proven_at,
       c.wallet_proven_at, (select model_version from source_score h where h.domain = s.domain order by seq desc limit 1) as model_version
     from source s left join source_claim c on c.id = s.proven_claim
     where s.domain = any($1)`,
    [names],
  )
  const speaks = (row: Row) => row.domain === host || (row.claim_id !== null && row.method === 'dns')
  const nearest = names.flatMap((name) => rows.filter((row) => row.domain === name)).filter(speaks)
  // A host that is registered but not proven must not keep the owner of the domain above from being paid.
  const row = nearest.find((one) => one.claim_id !== null) ?? nearest[0]
  return row && citedSource(row)
}

function citedSource(row: Row): CitedSource {
  const claim =
    row.claim_id === null || row.wallet === null
      ? undefined
      : { id: row.claim_id, wallet: row.wallet, method: row.method, provenAt: row.proven_at }
  return {
    domain: row.domain,
    registrable: row.registrable,
    state: row.state,
    citeScore: row.cite_score,
    modelVersion: row.model_version ?? undefined,
    synthetic: row.synthetic,
    claim,
    payout: !claim
      ? 'unproven'
      : row.state !== 'proven'
        ? 'held'
        : row.wallet_proven_at === null
          ? 'awaiting_wallet_signature'
          : 'active',
  }
}
