import type { Address } from '@assay/protocol/address'
import type { Clock } from '@assay/till/kernel/clock'
import type { Ids } from '@assay/till/kernel/ids'
import { Problem } from '@assay/till/kernel/problem'
import type { Database, Tx } from '@assay/till/store/database'
import { limitReached } from './problems.ts'
import type { NotificationSettings } from './settings.ts'

export type WatchDeps = { database: Database; clock: Clock; ids: Ids; settings: NotificationSettings }

export type NewWatch = { endpoint: string; topic: string; subject: string }

/** The first ones are free; more need a plan, and nothing is stored without it. */
export async function addWatch(deps: WatchDeps, wallet: Address, watch: NewWatch): Promise<string> {
  const now = new Date(deps.clock.nowMs())
  const { freeWatches, planWatches } = deps.settings
  return deps.database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 20))', [`notifications ${wallet}`])
    const own = await tx.query('select from notification_endpoint where id = $1 and wallet = $2', [
      watch.endpoint,
      wallet,
    ])
    if (own.rowCount === 0) throw new Problem('not_found', { detail: 'This wallet has no such endpoint.' })
    const same = await tx.query<{ id: string }>(
      'select id from notification_watch where endpoint = $1 and topic = $2 and subject = $3',
      [watch.endpoint, watch.topic, watch.subject],
    )
    if (same.rows[0]) return same.rows[0].id
    const { rows } = await tx.query<{ free: bigint; all: bigint; plan: boolean }>(
      `select count(*) filter (where not paid) as free, count(*) as all,
         exists (select from notification_plan where wallet = $1 and until_at > $2) as plan
       from notification_watch where wallet = $1`,
      [wallet, now],
    )
    const { free, all, plan } = rows[0] ?? { free: 0n, all: 0n, plan: false }
    const paid = Number(free) >= freeWatches
    if (paid && !plan) throw limitReached(`${freeWatches} watches a wallet are free; more need a plan.`)
    if (Number(all) >= planWatches) throw limitReached(`A wallet has at most ${planWatches} watches.`)
    const id = deps.ids.next('nwt')
    await tx.query(
      `insert into notification_watch (id, wallet, endpoint, topic, subject, paid, created_at)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [id, wallet, watch.endpoint, watch.topic, watch.subject, paid, now],
    )
    return id
  })
}

/** What is removed makes room: the oldest of those that are paid for becomes free. */
export async function removeOwn(
  { database, settings }: Pick<WatchDeps, 'database' | 'settings'>,
  wallet: Address,
  id: string,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const table = id.startsWith('nep_') ? 'notification_endpoint' : 'notification_watch'
    // What the operator blocked stays: otherwise its owner could remove it and name it again.
    const kept = table === 'notification_endpoint' ? `and reason <> 'operator'` : ''
    const gone = await tx.query(`delete from ${table} where id = $1 and wallet = $2 ${kept}`, [id, wallet])
    await tx.query(
      `update notification_watch set paid = false where id in (
         select id from notification_watch where wallet = $1 and paid order by created_at, id
         limit greatest(0, $2 - (select count(*) from notification_watch where wallet = $1 and not paid)))`,
      [wallet, settings.freeWatches],
    )
    return gone.rowCount > 0
  })
}

const planDays = 30

/** Each payment adds its days once, and a reorg takes them back once. */
export async function extendPlan(
  tx: Tx,
  sale: { paymentId: string; round: number; payer: Address },
  nowMs: number,
): Promise<number> {
  const taken = await tx.query(
    'insert into notification_plan_sale (payment_id, round, wallet) values ($1, $2, $3) on conflict do nothing',
    [sale.paymentId, sale.round, sale.payer],
  )
  const { rows } = await tx.query<{ until_at: Date }>(
    `insert into notification_plan (wallet, until_at) values ($1, $2::timestamptz + $3 * interval '1 day')
     on conflict (wallet) do update set until_at = greatest(notification_plan.until_at, $2) + $3 * interval '1 day'
     returning until_at`,
    [sale.payer, new Date(nowMs), taken.rowCount === 0 ? 0 : planDays],
  )
  return rows[0]?.until_at.getTime() ?? nowMs
}

export async function revokePlan(tx: Tx, sale: { paymentId: string; round: number; payer: Address }): Promise<void> {
  const gone = await tx.query('delete from notification_plan_sale where payment_id = $1 and round = $2', [
    sale.paymentId,
    sale.round,
  ])
  if (gone.rowCount === 0) return
  await tx.query(`update notification_plan set until_at = until_at - $2 * interval '1 day' where wallet = $1`, [
    sale.payer,
    planDays,
  ])
}
