import { expect, test, vi } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { createExactScheme } from '../schemes/exact/index.ts'
import type { Database } from '../store/database.ts'
import { StoreUnavailable } from '../store/errors.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { sampleClaim } from './claim.fixture.ts'
import { createClaims } from './claims.ts'
import { createDeferredTransitions } from './deferred-transitions.ts'
import type { GateDeps } from './gate-deps.ts'
import type { Purchase } from './purchase.ts'
import { findPayment } from './store-advance.ts'
import { workOnClaim } from './work-on-claim.ts'

const db = await useTestDatabase()

const owner = { id: 7n } as GateDeps['owner']

/** The statement that stores the intent takes effect, or not; either way its answer is lost. */
const losing = (when: 'before' | 'after'): Database => ({
  ...db.database,
  query: async (statement, values) => {
    const isIntent = typeof statement !== 'string' && statement.name === 'payment-intent'
    if (!isIntent) return db.database.query(statement, values)
    if (when === 'after') await db.database.query(statement, values)
    throw new StoreUnavailable('the connection to the database was lost')
  },
})

test.each(['before', 'after'] as const)(
  'a claim whose intent was interrupted %s it was stored is let go at once, for nothing was sent',
  async (when) => {
    const claim = sampleClaim(when === 'before' ? 1 : 2)
    const database = losing(when)
    const claims = createClaims(database, owner, systemClock)
    expect(await claims.claim(claim)).toEqual({ status: 'claimed' })
    const deps = {
      database,
      claims,
      deferred: createDeferredTransitions({ database, owner, clock: systemClock, log: silentLog }),
      owner,
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
      limits: { settleMs: 30_000 },
      exposure: { admit: async () => true },
      facilitator: { settle: () => Promise.reject(new Error('must not be asked')) },
    } as unknown as GateDeps
    const purchase = {
      scheme: createExactScheme([]),
      payment: { validBefore: claim.validBefore },
      payerIsKey: true,
      call: {
        clientGone: new AbortController().signal,
        prepare: async () => ({ answer: { status: 200, contentType: 'text/plain', body: 'x' } }),
      },
    } as unknown as Purchase
    const working = workOnClaim(deps, purchase, claim)
    await expect(working).rejects.toThrow(StoreUnavailable)
    await vi.waitFor(
      async () =>
        expect(await findPayment(db.owner, claim.id)).toMatchObject({ state: 'released', reason: 'interrupted' }),
      30_000,
    )
    const { rows } = await db.owner.query<{ in_flight: number }>(
      'select in_flight from payer_in_flight where payer = $1',
      [claim.payer],
    )
    expect(rows.map(({ in_flight }) => Number(in_flight))).toEqual([0])
  },
)
