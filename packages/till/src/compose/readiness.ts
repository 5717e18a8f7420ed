import type { OpenedGate } from './open-gate.ts'
import type { Ground } from './open-ground.ts'
import type { ReadinessCheck, SalePart } from './parts.ts'

/** What must work before money is taken. */
export function readinessChecks(ground: Ground, till: OpenedGate, parts: readonly SalePart[]): ReadinessCheck[] {
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
      check: async (signal: AbortSignal) => (await till.facilitator.supported(signal)).kinds.length > 0,
    },
    { name: 'signing key', check: async () => ground.keyring.complete() },
    ...parts.flatMap((part) => (part.readiness ?? []).map((check) => ({ partial: true, ...check }))),
    { name: 'payments', check: async () => !(await till.pauses.read()).get('sales').paused },
  ]
}
