import type { TillJob } from '@assay/till/compose'
import type { ShopContext } from '../../http/index.ts'
import type { Outage } from './fold-periods.ts'
import { countAgain } from './grant-period.ts'
import { beginOutage, growOutage, lockOpenOutage, subscribersUntil } from './outage-store.ts'
import type { Product } from './policy.ts'

export type Parts = { down: number; of: number }

const lookMs = 60_000
const pageSize = 200

/**
 * Watches what a product opens and gives subscribers the time back in which part of it could not be had: those whose
 * time runs out meanwhile at once, everybody when it is over.
 */
export function outageJob(context: ShopContext, product: Product, parts: () => Parts): TillJob {
  return {
    name: `subscriptions.outages.${product}`,
    intervalMs: lookMs,
    work: async () => {
      const nowMs = context.clock.nowMs()
      const seen = await noteParts(context, product, parts(), nowMs)
      if (!seen) return
      const untilMs = seen.over ? null : nowMs + 2 * lookMs
      await forEachSubscriber(context, product, { fromMs: seen.outage.beganMs, toMs: untilMs }, (wallet) =>
        context.database.transaction((tx) => countAgain(tx, wallet, product, nowMs)),
      )
    },
  }
}

/** Writes down what is seen; gives the outage that goes on or has just ended. */
export async function noteParts(
  { database }: Pick<ShopContext, 'database'>,
  product: Product,
  { down, of }: Parts,
  nowMs: number,
): Promise<{ outage: Outage; over: boolean } | undefined> {
  return database.transaction(async (tx) => {
    const open = await lockOpenOutage(tx, product)
    const same = open !== undefined && open.down === down && open.of === of
    if (open) await growOutage(tx, product, nowMs, same)
    if (down > 0 && !same) await beginOutage(tx, product, { beganMs: nowMs, endedMs: nowMs, down, of })
    if (open) return { outage: { ...open, endedMs: nowMs }, over: !same }
    return down > 0 ? { outage: { beganMs: nowMs, endedMs: nowMs, down, of }, over: false } : undefined
  })
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
