import type { SignedEvidence } from '@assay/protocol/mesh/evidence'
import type { ReportedPurchase } from '@assay/protocol/mesh/weigh-evidence'
import type { Sql } from '@assay/till/store/database'

const at = (place: number) => `to_timestamp($${place}::float8 / 1000)`
const perNodeMax = 256

export type EvidenceRow = {
  id: string
  evidence: SignedEvidence
  kind: 'price' | 'purchase'
  capability: string
  atMs: number
  nowMs: number
}

/** Keeps verified evidence: one of a kind for each payer and day, and so many of each node. False where it was known. */
export async function saveEvidence(sql: Sql, row: EvidenceRow): Promise<boolean> {
  const { evidence } = row
  const bought = evidence.type === 'x402-mesh-purchase' ? evidence : undefined
  const { rowCount } = await sql.query(
    `insert into mesh_evidence (id, node, kind, capability, reporter, day, outcome, price_kept, latency_ms, document, received_at)
     values ($1, $2, $3, $4, $5, (${at(6)} at time zone 'UTC')::date, $7, $8, $9, $10, ${at(11)}) on conflict do nothing`,
    [
      ...[row.id, evidence.node, row.kind, row.capability, evidence.reporter, row.atMs, bought?.outcome ?? null],
      ...[bought === undefined ? null : bought.paid_micro === bought.stated_micro, bought?.latency_ms ?? null],
      ...[JSON.stringify(evidence), row.nowMs],
    ],
  )
  if (rowCount !== 1) return false
  await sql.query(
    `delete from mesh_evidence where id in
       (select id from mesh_evidence where node = $1 and kind = $2 order by received_at desc offset ${perNodeMax})`,
    [evidence.node, row.kind],
  )
  return true
}

export async function deleteEvidence(sql: Sql, limits: { priceMs: number; purchaseMs: number }): Promise<void> {
  await sql.query(
    `delete from mesh_evidence where received_at < case kind when 'price' then ${at(1)} else ${at(2)} end`,
    [limits.priceMs, limits.purchaseMs],
  )
}

export type ReportedEvidence = { evidence: SignedEvidence; reporter: string; receivedMs: number }
export type EvidenceQuery = {
  sinceMs: number
  node?: string | undefined
  capability?: string | undefined
  limit: number
}

/** All since a time, oldest first, or the newest about one node. */
export async function readEvidenceRows(sql: Sql, query: EvidenceQuery): Promise<ReportedEvidence[]> {
  const { rows } = await sql.query<{ document: string; reporter: string; received_at: Date }>(
    `select document, reporter, received_at from mesh_evidence
     where received_at > ${at(1)} and ($2::text is null or node = $2) and ($3::text is null or capability = $3)
     order by case when $2::text is null then received_at end, received_at desc limit $4`,
    [query.sinceMs, query.node ?? null, query.capability ?? null, query.limit],
  )
  return rows.map(({ document, reporter, received_at }) => ({
    evidence: JSON.parse(document) as SignedEvidence,
    reporter,
    receivedMs: received_at.getTime(),
  }))
}

export type KnownCall = ReportedPurchase & { node: string }

export async function paidCalls(sql: Sql, capability: string, nodes: readonly string[]): Promise<KnownCall[]> {
  const { rows } = await sql.query<{
    node: string
    reporter: string
    outcome: ReportedPurchase['outcome']
    price_kept: boolean
    latency_ms: number
  }>(
    `select node, reporter, outcome, price_kept, latency_ms from mesh_evidence
     where kind = 'purchase' and capability = $1 and node = any($2)`,
    [capability, nodes],
  )
  return rows.map((row) => ({
    node: row.node,
    payer: row.reporter,
    outcome: row.outcome,
    priceKept: row.price_kept,
    latencyMs: row.latency_ms,
  }))
}

/** Which of these wallets paid the operator of this node, by a final payment that was no purchase of credit. */
export async function knownPayers(sql: Sql, wallets: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql.query<{ wallet: string }>(
    `select w.wallet from unnest($1::text[]) as w(wallet)
     where exists (select from payment p where p.payer = w.wallet and p.ended_at is not null and p.state = 'served'
       and p.final and p.payee = 'pay_to' and p.amount_micro > 0)`,
    [wallets],
  )
  return new Set(rows.map((row) => row.wallet))
}
