import type { Address } from '@assay/protocol/address'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import type { Database, Tx } from '@assay/till/store/database'
import { countAgain } from './grant-period.ts'
import { beginPause, endPause, lastPause, overduePauses, pauseEveryMs } from './pause-store.ts'
import type { Product } from './policy.ts'
import { subscriptionProblems } from './problems.ts'
import { findSubscription, lockWallet, type Subscription } from './store.ts'

/** Stops the time of a subscription, and everything that it opens, until it is resumed. */
export async function pauseSubscription(
  tx: Tx,
  wallet: Address,
  product: Product,
  nowMs: number,
): Promise<Subscription | undefined> {
  await lockWallet(tx, wallet)
  const known = await findSubscription(tx, wallet, product)
  if (!known || known.pausedAtMs !== null) return known
  if (known.untilMs <= nowMs)
    throw new Problem(subscriptionProblems.subscription_state, { detail: 'It has ended; there is nothing to pause.' })
  const lastMs = await lastPause(tx, wallet, product)
  if (lastMs !== undefined && nowMs < lastMs + pauseEveryMs)
    throw new Problem(subscriptionProblems.subscription_state, {
      detail: `It can be paused again at ${toRfc3339(lastMs + pauseEveryMs)}.`,
    })
  await beginPause(tx, wallet, product, nowMs)
  return findSubscription(tx, wallet, product)
}

export async function resumeSubscription(
  tx: Tx,
  wallet: Address,
  product: Product,
  nowMs: number,
): Promise<Subscription | undefined> {
  await lockWallet(tx, wallet)
  if (await endPause(tx, wallet, product, nowMs)) await countAgain(tx, wallet, product, nowMs)
  return findSubscription(tx, wallet, product)
}

/** Ends what was paused for as long as is allowed. One that cannot be ended does not keep the others waiting. */
export async function resumeOverdue(database: Database, nowMs: number): Promise<void> {
  const failures: unknown[] = []
  for (const { wallet, product } of await overduePauses(database, nowMs))
    await database
      .transaction((tx) => resumeSubscription(tx, wallet, product, nowMs))
      .catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
