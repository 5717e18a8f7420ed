import type { TillJob } from '@assay/till/compose'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { writeAudit } from '@assay/till/store/audit-log'
import type { Tx } from '@assay/till/store/database'
import { lastSeenBeforeRestore } from '@assay/till/store/restore'
import type { ShopContext } from '../shop.ts'
import type { Outage } from './compute-term.ts'
import { countAgain } from './grant-period.ts'
import { growOutage, insertOutage, lockOpenOutage, recordCheck, subscribersUntil } from './outage-store.ts'
import type { Product } from './policy.ts'

export type Parts = { down: number; of: number }

const pollMs = 60_000
/** A check may come late; after this long without one no node ran. */
const stoppedMs = 3 * pollMs
const pageSize = 200

/**
 * Watches what a product opens and gives subscribers the time back in which part of it could not be had: those whose
 * time runs out meanwhile at once, everybody when it is over. The time in which no node ran at all is given back after it.
 */
export function outageJob(context: ShopContext, product: Product, parts: () => Parts): TillJob {
  return {
    name: `subscriptions.outages.${product}`,
    intervalMs: pollMs,
    work: async () => {
      const nowMs = context.clock.nowMs()
      const seen = await recordParts(context, product, parts(), nowMs)
      if (!seen) return
      const untilMs = seen.over ? null : nowMs + 2 * pollMs
      await forEachSubscriber(context, product, { fromMs: seen.outage.beganMs, toMs: untilMs }, (wallet) =>
        context.database.transaction((tx) => countAgain(tx, wallet, product, nowMs)),
      )
    },
  }
}

/** Writes down what is seen; returns the outage that goes on or has just ended, and the time nobody was there to see. */
export async function recordParts(
  { database }: Pick<ShopContext, 'database'>,
  product: Product,
  { down, of }: Parts,
  nowMs: number,
): Promise<{ outage: Outage; over: boolean } | undefined> {
  return database.transaction(async (tx) => {
    // A database from a backup does not know that nodes ran on until it was lost.
    const lookedMs = laterOf(await recordCheck(tx, product, nowMs), await lastSeenBeforeRestore(tx))
    const stopped = lookedMs !== undefined && nowMs - lookedMs > stoppedMs
    const open = await lockOpenOutage(tx, product)
    const same = !stopped && open !== undefined && open.down === down && open.of === of
    if (open) await growOutage(tx, product, stopped ? lookedMs : nowMs, same)
    const ended = open && { ...open, endedMs: stopped ? lookedMs : nowMs }
    // A node that is stopped gives nothing at all.
    const stop = stopped ? { beganMs: lookedMs + 1, endedMs: nowMs, down: 1, of: 1 } : undefined
    if (stop) await insertOutage(tx, product, stop, false)
    if (down > 0 && !same) await insertOutage(tx, product, { beganMs: nowMs, endedMs: nowMs, down, of }, true)
    if (!same) for (const outage of [ended, stop]) if (outage) await auditOutage(tx, product, outage)
    const outage = ended ?? stop
    if (outage) return { outage, over: !same }
    return down > 0 ? { outage: { beganMs: nowMs, endedMs: nowMs, down, of }, over: false } : undefined
  })
}

const laterOf = (lookedMs: number | undefined, seenMs = Number.NEGATIVE_INFINITY) =>
  lookedMs === undefined ? undefined : Math.max(lookedMs, seenMs)

async function auditOutage(tx: Tx, product: Product, { beganMs, endedMs, down, of }: Outage): Promise<void> {
  if (endedMs <= beganMs) return
  const details = { began_at: toRfc3339(beganMs), ended_at: toRfc3339(endedMs), down, of }
  await writeAudit(tx, { actor: 'node', action: 'subscriptions.time_back', subject: product, details })
}

async function forEachSubscriber(
  { database, log }: Pick<ShopContext, 'database' | 'log'>,
  product: Product,
  range: { fromMs: number; toMs: number | null },
  work: (wallet: Awaited<ReturnType<typeof subscribersUntil>>[number]) => Promise<void>,
): Promise<void> {
  let after = ''
  for (;;) {
    const wallets = await subscribersUntil(database, product, { ...range, after, limit: pageSize })
    for (const wallet of wallets)
      await work(wallet).catch((error: unknown) =>
        log.error({ wallet, error: String(error) }, 'the time of an outage could not be given back'),
      )
    const last = wallets.at(-1)
    if (last === undefined || wallets.length < pageSize) return
    after = last
  }
}
