import { expect, test, vi } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import type { Database } from '../store/database.ts'
import { StoreUnavailable } from '../store/errors.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { sampleClaim } from './claim.fixture.ts'
import { createClaims } from './claims.ts'
import { createDeferredTransitions } from './deferred-transitions.ts'
import type { Owner } from './owner.ts'
import { findPayment } from './store-advance.ts'

let failures = 0
const owner = { id: 7n } as Owner
const clock = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 50, signal) }

const db = await useTestDatabase()

/** Out of reach for the next `failures` statements. */
const shaky = (): Database => ({
  ...db.database,
  query: async (statement, values) => {
    if (failures === 0) return db.database.query(statement, values)
    failures -= 1
    throw new StoreUnavailable('the connection to the database was lost')
  },
})

const deferred = () => createDeferredTransitions({ database: shaky(), owner, clock, log: silentLog })
const stateOf = async (id: string) => (await findPayment(db.owner, id))?.state

async function inFlight(id: string): Promise<number> {
  const { rows } = await db.owner.query<{ n: number }>(
    'select f.in_flight as n from payer_in_flight f join payment p using (network, payer) where p.id = $1',
    [id],
  )
  return Number(rows[0]?.n)
}

async function claimed(n: number, attempt?: number): Promise<string> {
  const claim = sampleClaim(n)
  const claims = createClaims(db.database, owner, systemClock)
  expect(await claims.claim(claim)).toEqual({ status: 'claimed' })
  if (attempt === undefined) return claim.id
  const answer = {
    chargeMicro: 5_000n,
    status: 200,
    contentType: 'text/plain',
    headers: {},
    body: Buffer.from('x'),
    reservation: null,
  }
  expect(await claims.intend({ id: claim.id, ...answer, attempt, leaseMs: 90_000 })).toBe(true)
  return claim.id
}

test('a claim is let go as soon as the database is back, not when its lease runs out', async () => {
  const id = await claimed(1)
  failures = Number.POSITIVE_INFINITY
  await deferred().release(id, 'interrupted')
  expect(await stateOf(id)).toBe('claimed')
  failures = 2
  await vi.waitFor(async () => expect(await stateOf(id)).toBe('released'), 30_000)
  expect(await inFlight(id)).toBe(0)
})

test('a claim that is written after it was looked for is found by the next read', async () => {
  let written = () => {}
  const isWritten = new Promise<void>((resolve) => {
    written = resolve
  })
  const patient = { ...clock, sleep: () => isWritten }
  createDeferredTransitions({ database: shaky(), owner, clock: patient, log: silentLog }).releaseInDoubt(
    sampleClaim(5).id,
  )
  const id = await claimed(5)
  written()
  await vi.waitFor(async () => expect(await stateOf(id)).toBe('released'), 30_000)
})

test('what the database refuses for good is not tried again, and is reported as an error', async () => {
  const refused = Object.assign(new Error('violates a check'), { code: '23514', severity: 'ERROR' })
  let tries = 0
  const sleep = vi.fn(clock.sleep)
  const errors: unknown[] = []
  const database: Database = {
    ...db.database,
    query: () => {
      tries += 1
      return Promise.reject(refused)
    },
  }
  const log = { ...silentLog, error: (...said: unknown[]) => errors.push(said) } as typeof silentLog
  const refusing = createDeferredTransitions({ database, owner, clock: { ...clock, sleep }, log })
  await refusing.release('pay_x', 'interrupted')
  expect([tries, errors.length]).toEqual([1, 1])
  // What is tried again waits first.
  expect(sleep).not.toHaveBeenCalled()
})

test('a payment that may have moved money is parked as soon as the database is back', async () => {
  const attempt = 7
  const id = await claimed(2, attempt)
  await deferred().markUnknown(id, 'interrupted', attempt - 1)
  expect(await stateOf(id)).toBe('settling')
  failures = 4
  const transaction = `0x${'ab'.repeat(32)}` as const
  await deferred().markUnknown(id, 'interrupted', attempt, transaction)
  await vi.waitFor(async () => expect(await stateOf(id)).toBe('unknown'), 30_000)
  expect(await findPayment(db.owner, id)).toMatchObject({ transaction, reason: 'interrupted' })
  expect(await inFlight(id)).toBe(1)
})

test('a late release does not touch the intent of another attempt, nor what another process holds', async () => {
  const attempt = 7
  const id = await claimed(3, attempt)
  await deferred().release(id, 'interrupted')
  await deferred().release(id, 'interrupted', attempt - 1)
  const other = createDeferredTransitions({ database: shaky(), owner: { id: 8n } as Owner, clock, log: silentLog })
  await other.release(id, 'interrupted', attempt)
  expect(await stateOf(id)).toBe('settling')
  await deferred().release(id, 'interrupted', attempt)
  expect(await stateOf(id)).toBe('released')
})

test('nothing is tried any more once the node stops', async () => {
  const id = await claimed(4)
  failures = 1
  const given = vi.fn()
  const log = { ...silentLog, error: given }
  const transitions = createDeferredTransitions({ database: shaky(), owner, clock, log })
  await transitions.release(id, 'interrupted')
  await transitions.stop()
  await vi.waitFor(() => expect(given).toHaveBeenCalledOnce())
  expect(await stateOf(id)).toBe('claimed')
})
