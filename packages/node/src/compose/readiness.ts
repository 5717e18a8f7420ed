import type { ReadinessCheck, Shop } from '../http/index.ts'
import type { Ground } from './ground.ts'
import type { Till } from './till.ts'

/** What must work before money is taken. */
export function readinessChecks(ground: Ground, till: Till, shops: readonly Shop[]): ReadinessCheck[] {
  const { database } = ground.store
  return [
    // A write, because a database that can only be read cannot claim.
    {
      name: 'database',
      check: async () =>
        (await database.query(`update payment_owner set started_at = started_at where owner = $1`, [till.owner.id]))
          .rowCount === 1,
    },
    ...[...ground.chains.values()].map((chain) => ({
      name: `chain ${chain.network.caip2}`,
      check: async () => (await chain.head()).number >= 0n,
    })),
    // Without one, free routes, credit and subscribers go on.
    {
      name: 'facilitator',
      partial: true,
      check: async (signal) => (await till.facilitator.supported(signal)).kinds.length > 0,
    },
    { name: 'signing key', check: async () => ground.keyring.complete() },
    ...shops.flatMap((shop) => shop.readiness ?? []),
    { name: 'payments', check: async () => !(await till.pauses.read()).get('sales').paused },
  ]
}
