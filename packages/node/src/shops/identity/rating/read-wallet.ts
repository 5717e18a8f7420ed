import type { Address } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'
import type { EvidenceSql, IdentityPorts } from '../ports.ts'
import { evidenceOf } from './aggregate-ratings.ts'
import { drawsSql, paymentsSql, reversalsSql, type SeenRow, toEvents, walletsIn } from './collect-events.ts'
import { takeIn, type WalletEvidence } from './evidence.ts'
import { gatherEvidence, type PartyRow, partyColumns, type TallyRow, tallyColumns } from './evidence-store.ts'

/** Everything known of one wallet at one moment: what was aggregated, and what has happened since. */
export type WalletStatus = {
  /** By network. */
  evidence: ReadonlyMap<string, WalletEvidence>
  clusters: ReadonlyMap<Address, string>
  upheldDisputes: number
}

export type WalletStatusRow = {
  tallies: TallyRow[] | null
  parties: PartyRow[] | null
  payments: SeenRow[] | null
  draws: SeenRow[] | null
  reversals: SeenRow[] | null
  disputes: bigint
}

export const list = (query: string) => `(select json_agg(t) from (${query}) t)`

/** Rows after the cursor; its time is repeated separately, for the index that has the wallet first. */
const since = (wallet: string, of: string) =>
  `p.${wallet} = $1 and p.ended_at >= c.${of}_at and (p.ended_at, p.${wallet}, p.id) > (c.${of}_at, c.${of}_${wallet}, c.${of}_id)`

/**
 * The status of the wallet $1, with more columns if there are any. One statement, so that no aggregation can pass between
 * what is read from the books and what is read behind them. The limit tells the planner that there is one cursor; without it, it plans
 * for hundreds.
 */
export const walletStatusSql = (evidence: EvidenceSql, more = '') => `select ${more}
  ${list(`select ${tallyColumns} from agent_rating where wallet = $1`)} as tallies,
  ${list(`select ${partyColumns} from agent_rating_party where wallet = $1`)} as parties,
  ${list(paymentsSql(evidence, since('payer', 'payment')))} as payments,
  ${list(drawsSql(evidence, since('account', 'draw')))} as draws,
  ${list(reversalsSql(evidence, 'r.id > c.reversal_id and r.wallet = $1'))} as reversals,
  ${evidence.disputesSql('$1')} as disputes
  from (select * from rating_cursor limit 1) c`

export async function readWalletStatus(deps: WalletStatusDeps, sql: Sql, wallet: Address): Promise<WalletStatus> {
  const { rows } = await sql.query<WalletStatusRow>({
    name: 'identity-wallet-status',
    text: walletStatusSql(deps.ports.evidence),
    values: [wallet],
  })
  return toWalletStatus(deps, sql, wallet, rows[0])
}

type WalletStatusDeps = { ports: Pick<IdentityPorts, 'fundingClusters' | 'evidence'>; operator: Address }

export async function toWalletStatus(
  deps: WalletStatusDeps,
  sql: Sql,
  wallet: Address,
  row: WalletStatusRow | undefined,
): Promise<WalletStatus> {
  if (row === undefined) throw new Error('the cursor of ratings is missing')
  const seen = [...(row.payments ?? []), ...(row.draws ?? []), ...(row.reversals ?? [])]
  const known = gatherEvidence(row.tallies ?? [], row.parties ?? [])
  const upheldDisputes = Number(row.disputes)
  // Most wallets that are asked about were never seen: no second question for them.
  if (seen.length === 0 && known.size === 0) return { evidence: new Map(), clusters: new Map(), upheldDisputes }
  const named = walletsIn(seen)
  named.add(wallet)
  for (const party of row.parties ?? []) named.add(party.party)
  const clusters = await deps.ports.fundingClusters(sql, [...named])
  for (const event of toEvents(deps.operator, clusters, seen)) takeIn(evidenceOf(known, event), event)
  return {
    evidence: new Map([...known].map(([key, evidence]) => [key.slice(key.indexOf(' ') + 1), evidence])),
    clusters,
    upheldDisputes,
  }
}
