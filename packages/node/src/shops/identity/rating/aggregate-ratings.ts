import type { Address } from '@assay/protocol/address'
import type { Clock } from '@assay/till/kernel/clock'
import type { Database, Tx } from '@assay/till/store/database'
import type { IdentityPorts } from '../ports.ts'
import { drawsSql, paymentsSql, reversalsSql, type SeenRow, toEvents, walletsIn } from './collect-events.ts'
import { noEvidence, type RatingEvent, takeIn, type WalletEvidence } from './evidence.ts'
import { evidenceKey, loadEvidence, saveEvidence, type Touched } from './evidence-store.ts'

export type AggregateDeps = {
  database: Database
  clock: Clock
  ports: Pick<IdentityPorts, 'fundingClusters' | 'evidence'>
  operator: Address
}

type Cursor = {
  payment_at: Date
  payment_payer: string
  payment_id: string
  draw_at: Date
  draw_account: string
  draw_id: string
  reversal_id: bigint
}

/** Transactions commit out of order; none takes this long from naming its time to its end. */
export const aggregateLagMs = 30_000
const batchMax = 2_000

/** Takes what has ended since the last time into the books of ratings. Returns the wallets that changed. */
export async function aggregateRatings(deps: AggregateDeps): Promise<Address[]> {
  const changed = new Set<Address>()
  if (!(await hasEnded(deps))) return []
  for (;;) {
    const batch = await deps.database.transaction((tx) => aggregateBatch(deps, tx))
    for (const wallet of batch.wallets) changed.add(wallet)
    if (!batch.more) return [...changed]
  }
}

/** Mostly nothing has: that takes one statement, and neither a transaction nor the lock of the cursor. */
async function hasEnded({ database, clock, ports: { evidence } }: AggregateDeps): Promise<boolean> {
  const { rows } = await database.query<{ ended: boolean }>(
    `select exists (${paymentsSql(evidence, '(p.ended_at, p.payer, p.id) > (c.payment_at, c.payment_payer, c.payment_id) and p.ended_at < $1')})
       or exists (${drawsSql(evidence, '(p.ended_at, p.account, p.id) > (c.draw_at, c.draw_account, c.draw_id) and p.ended_at < $1')})
       or exists (${reversalsSql(evidence, 'r.id > c.reversal_id')}) as ended from rating_cursor c`,
    [new Date(clock.nowMs() - aggregateLagMs)],
  )
  return rows[0]?.ended !== false
}

async function aggregateBatch(deps: AggregateDeps, tx: Tx): Promise<{ wallets: Address[]; more: boolean }> {
  const { rows } = await tx.query<Cursor>(
    `select payment_at, payment_payer, payment_id, draw_at, draw_account, draw_id, reversal_id
     from rating_cursor for update`,
  )
  const cursor = rows[0]
  if (cursor === undefined) throw new Error('the cursor of ratings is missing')
  const upTo = new Date(deps.clock.nowMs() - aggregateLagMs)
  const payments = await tx.query<SeenRow>(
    `${paymentsSql(deps.ports.evidence, '(p.ended_at, p.payer, p.id) > ($1, $2, $3) and p.ended_at < $4')} order by p.ended_at, p.payer, p.id limit ${batchMax}`,
    [cursor.payment_at, cursor.payment_payer, cursor.payment_id, upTo],
  )
  const draws = await tx.query<SeenRow>(
    `${drawsSql(deps.ports.evidence, '(p.ended_at, p.account, p.id) > ($1, $2, $3) and p.ended_at < $4')} order by p.ended_at, p.account, p.id limit ${batchMax}`,
    [cursor.draw_at, cursor.draw_account, cursor.draw_id, upTo],
  )
  // A reversal is counted only where its sale was: those that are not are passed over by the query.
  const reversals = await tx.query<SeenRow>(
    `${reversalsSql(deps.ports.evidence, 'r.id > $1')} order by r.id limit ${batchMax}`,
    [cursor.reversal_id],
  )
  const seen = [...payments.rows, ...draws.rows, ...reversals.rows]
  if (seen.length === 0) return { wallets: [], more: false }
  const clusters = await deps.ports.fundingClusters(tx, [...walletsIn(seen)])
  const wallets = await takeInAll(tx, toEvents(deps.operator, clusters, seen))
  await moveCursor(tx, payments.rows.at(-1), draws.rows.at(-1), reversals.rows.at(-1))
  return { wallets, more: [payments, draws, reversals].some((result) => result.rows.length === batchMax) }
}

async function takeInAll(tx: Tx, events: readonly RatingEvent[]): Promise<Address[]> {
  if (events.length === 0) return []
  const wallets = [...new Set(events.map((event) => event.wallet))]
  const parties = new Set(events.flatMap((event) => (event.kind === 'failed' ? [] : event.parties)))
  const known = await loadEvidence(tx, wallets, [...parties])
  const touched = new Map<string, Touched>()
  for (const event of events) {
    const evidence = evidenceOf(known, event)
    takeIn(evidence, event)
    touched.set(evidenceKey(event.wallet, event.network), { wallet: event.wallet, network: event.network, evidence })
  }
  await saveEvidence(tx, [...touched.values()])
  return wallets
}

/** The evidence an event belongs to, made where there is none yet. */
export function evidenceOf(known: Map<string, WalletEvidence>, event: RatingEvent): WalletEvidence {
  const key = evidenceKey(event.wallet, event.network)
  const evidence = known.get(key) ?? noEvidence(event.atMs)
  known.set(key, evidence)
  return evidence
}

async function moveCursor(
  tx: Tx,
  payment: SeenRow | undefined,
  draw: SeenRow | undefined,
  reversal: SeenRow | undefined,
): Promise<void> {
  await tx.query(
    `update rating_cursor set payment_at = coalesce($1, payment_at), payment_payer = coalesce($2, payment_payer), payment_id = coalesce($3, payment_id),
       draw_at = coalesce($4, draw_at), draw_account = coalesce($5, draw_account), draw_id = coalesce($6, draw_id),
       reversal_id = coalesce($7, reversal_id)`,
    [
      payment?.at ?? null,
      payment?.wallet ?? null,
      payment?.id ?? null,
      draw?.at ?? null,
      draw?.wallet ?? null,
      draw?.id ?? null,
      reversal?.id ?? null,
    ],
  )
}
