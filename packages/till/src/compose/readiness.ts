import type { Infrastructure } from './open-infrastructure.ts'
import type { OpenedSettlement } from './open-settlement.ts'
import type { ReadinessCheck, SalePart } from './parts.ts'

/** What must work before money is taken. */
export function readinessChecks(
  infrastructure: Infrastructure,
  { owner, facilitator, pauses }: OpenedSettlement,
  parts: readonly SalePart[],
): ReadinessCheck[] {
  const { database } = infrastructure.store
  return [
    // A write, because a database that can only be read cannot claim.
    {
      name: 'database',
      check: async () =>
        (await database.query(`update payment_owner set started_at = started_at where owner = $1`, [owner.id]))
          .rowCount === 1,
    },
    ...infrastructure.networks.map(({ caip2 }) => ({
      name: `chain ${caip2}`,
      check: async () => ((await infrastructure.chains.get(caip2)?.head())?.number ?? -1n) >= 0n,
    })),
    // Without one, free routes, credit and subscribers go on.
    {
      name: 'facilitator',
      partial: true,
      check: async (signal: AbortSignal) => (await facilitator.supported(signal)).kinds.length > 0,
    },
    { name: 'signing key', check: async () => infrastructure.keyring.complete() },
    ...parts.flatMap((part) => (part.readiness ?? []).map((check) => ({ partial: true, ...check }))),
    { name: 'payments', check: async () => !(await pauses.read()).get('sales').paused },
  ]
}
