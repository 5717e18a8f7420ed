import { erc20Asset } from '@assay/protocol/asset'
import { permit2Key } from '@assay/protocol/typed-data/permit2'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Database } from '../store/database.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { fitsBalance, inFlightPerPayerMax } from '../transitions/decide-claim.ts'
import { answeredBefore, moves } from '../transitions/state-changes.ts'
import { sampleClaim } from './claim.fixture.ts'
import { endPayment, findConflict } from './store-advance.ts'
import { type Claim, insertClaims, leaveUnsettled, reclaimReleased, recountInFlight } from './store-claim.ts'

const db = await useTestDatabase()

const worker = (owner: bigint) => ({ owner, nowMs: Date.now(), leaseMs: 60_000 })
const claimAs = async (owner: bigint, claim: Claim) => (await insertClaims(db.database, [claim], worker(owner)))[0]

test('claim without its unique key: one payment is claimed once, by whichever process comes first', async () => {
  const claims = Array.from({ length: 8 }, (_, n) => ({ ...sampleClaim(1), id: `paycopy_${n}` }))
  const outcomes = await Promise.all(claims.map((claim, n) => claimAs(BigInt(n), claim)))
  expect(outcomes.map((outcome) => outcome?.status).sort()).toEqual(['claimed', ...Array(7).fill('conflict')])
  const { rows } = await db.owner.query('select in_flight from payer_in_flight where payer = $1', [
    sampleClaim(1).payer,
  ])
  expect(rows).toEqual([{ in_flight: 1 }])
})

test('a copy that lost the race and finds its payer counted again meanwhile does not count the payer down', async () => {
  const claim = sampleClaim(10)
  const copy = { ...claim, id: 'paycopy' }
  let began = () => {}
  const taken = new Promise<void>((resolve) => {
    began = resolve
  })
  // Between the two statements of the copy the winner ends, and the job counts the payer again.
  let statements = 0
  const recounted: Database = {
    ...db.database,
    query: async (statement, values) => {
      statements += 1
      const result = await db.database.query(statement, values)
      if (statements > 1) return result as never
      await endPayment(db.database, { id: claim.id, move: moves.releaseAbandoned, reason: 'test' }, Date.now())
      await recountInFlight(db.database, claim.network, claim.payer)
      return result as never
    },
  }
  const winner = db.database.transaction(async (tx) => {
    expect(await insertClaims(tx, [claim], worker(1n))).toEqual([{ status: 'claimed' }])
    began()
    await expect.poll(async () => (await db.owner.query(waitingSql)).rows).toHaveLength(1)
  })
  await taken
  const lost = insertClaims(recounted, [copy], worker(2n))
  await winner
  expect(await lost).toEqual([{ status: 'conflict' }])
  const { rows } = await db.owner.query('select in_flight, in_flight_micro from payer_in_flight where payer = $1', [
    claim.payer,
  ])
  expect(rows).toEqual([{ in_flight: 0, in_flight_micro: 0n }])
})

const waitingSql = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

test('a nonce of EIP-3009 counts for its token, one of Permit2 for every asset of the chain', async () => {
  const dollar = erc20Asset(sampleClaim(1).network, `0x${'d0'.repeat(20)}`)
  const inDollar = (claim: Claim, id: string): Claim => ({ ...claim, id, network: dollar, asset: dollar })
  const authorized = sampleClaim(31)
  const permitted = { ...sampleClaim(32), paymentKey: permit2Key(5n) }
  for (const claim of [authorized, permitted]) expect(await claimAs(1n, claim)).toEqual({ status: 'claimed' })
  expect(await claimAs(1n, inDollar(authorized, 'pay_dollar_31'))).toEqual({ status: 'claimed' })
  const again = inDollar(permitted, 'pay_dollar_32')
  expect(await claimAs(1n, again)).toEqual({ status: 'conflict' })
  expect((await findConflict(db.database, again))?.id).toBe(permitted.id)
  await endPayment(db.database, { id: permitted.id, move: moves.releaseAbandoned, reason: 'test' }, Date.now())
  // A released permit of one asset is not claimed again for another.
  expect(await reclaimReleased(db.database, again, worker(1n))).toEqual({ status: 'conflict' })
})

test('reclaimReleased keeps the old amount: only the very payment that was claimed can be claimed again', async () => {
  const claim = sampleClaim(2)
  expect(await claimAs(1n, claim)).toEqual({ status: 'claimed' })
  await endPayment(db.database, { id: claim.id, move: moves.releaseAbandoned, reason: 'test' }, Date.now())
  const signedAgain = { ...claim, amountMicro: 1n, signedDigest: Buffer.alloc(32, 7) }
  expect(await reclaimReleased(db.database, signedAgain, worker(2n))).toEqual({ status: 'conflict' })
  expect(await reclaimReleased(db.database, claim, worker(2n))).toEqual({ status: 'claimed', paymentId: claim.id })
})

test('an identifier names one purchase of a payer, and a released attempt gives it up until it is claimed again', async () => {
  const identifierHash = Buffer.alloc(32, 9)
  const [first, second] = [7, 8].map((number) => ({
    ...sampleClaim(number),
    payer: sampleClaim(7).payer,
    identifierHash,
  })) as [Claim, Claim]
  expect(await claimAs(1n, first)).toEqual({ status: 'claimed' })
  expect(await claimAs(1n, second)).toEqual({ status: 'conflict' })
  expect((await findConflict(db.database, second))?.id).toBe(first.id)
  await endPayment(db.database, { id: first.id, move: moves.releaseAbandoned, reason: 'test' }, Date.now())
  expect(await findConflict(db.database, second)).toBeUndefined()
  expect(await claimAs(1n, second)).toEqual({ status: 'claimed' })
  expect(await reclaimReleased(db.database, first, worker(1n))).toEqual({ status: 'conflict' })
  await endPayment(db.database, { id: second.id, move: moves.releaseAbandoned, reason: 'test' }, Date.now())
  expect(await reclaimReleased(db.database, first, worker(1n))).toEqual({ status: 'claimed', paymentId: first.id })
  expect((await findConflict(db.database, { ...second, paymentKey: sampleClaim(9).paymentKey }))?.id).toBe(first.id)
})

test('payment leases use process clocks: a lease is granted and checked by the clock of the database', async () => {
  const claim = sampleClaim(3)
  // A process whose clock is a day ahead.
  await insertClaims(db.database, [claim], { ...worker(1n), nowMs: Date.now() + 86_400_000 })
  const { rows } = await db.owner.query(
    `select lease_until between lease_now() and lease_now() + interval '61 seconds' as near from payment where id = $1`,
    [claim.id],
  )
  expect(rows).toEqual([{ near: true }])
})

test('a lost answer is found behind a purchase of the same thing that is still under way', async () => {
  const [inProgress, lost, again] = [4, 5, 6].map((number) => ({
    ...sampleClaim(number),
    payer: sampleClaim(4).payer,
    fingerprint: sampleClaim(4).fingerprint,
    ignoreUndelivered: number === 5,
  })) as [Claim, Claim, Claim]
  await claimAs(1n, inProgress)
  expect(await claimAs(2n, lost)).toEqual({ status: 'claimed' })
  await db.owner.query(`update payment set state = 'settling', client_gone = id = $1 where payer = $2`, [
    lost.id,
    lost.payer,
  ])
  expect(await claimAs(3n, again)).toEqual({ status: 'undelivered', paymentId: lost.id })
})

test('what asked for the answer of an earlier payment is never claimed again, new or released, and holds nothing', async () => {
  const [fresh, released, claimed] = [11, 12, 13].map((number) => ({
    ...sampleClaim(number),
    payer: sampleClaim(11).payer,
  })) as [Claim, Claim, Claim]
  await claimAs(1n, released)
  await endPayment(db.database, { id: released.id, move: moves.releaseAbandoned, reason: 'test' }, Date.now())
  await claimAs(1n, claimed)
  for (const copy of [1, 2])
    for (const claim of [fresh, released])
      expect(await leaveUnsettled(db.database, { ...claim, id: `${claim.id}_${copy}` }, worker(2n))).toBe(true)
  for (const claim of [fresh, released]) {
    expect(await claimAs(1n, { ...claim, id: 'pay_again' })).toEqual({ status: 'conflict' })
    expect(await reclaimReleased(db.database, claim, worker(1n))).toEqual({ status: 'conflict' })
    expect(await findConflict(db.database, claim)).toMatchObject({
      state: 'failed',
      reason: answeredBefore,
      final: false,
    })
  }
  // Who knows the name of the earlier purchase gets that one.
  const named = { ...sampleClaim(14), payer: fresh.payer, identifierHash: Buffer.alloc(32, 7) }
  await claimAs(1n, named)
  expect(await findConflict(db.database, { ...fresh, identifierHash: named.identifierHash })).toMatchObject({
    id: named.id,
  })
  // One that is being worked on decides for itself.
  expect(await leaveUnsettled(db.database, { ...claimed, id: 'pay_other' }, worker(2n))).toBe(false)
  expect(await findConflict(db.database, claimed)).toMatchObject({ id: claimed.id, state: 'claimed' })
  const { rows } = await db.owner.query('select in_flight from payer_in_flight where payer = $1', [fresh.payer])
  expect(rows).toEqual([{ in_flight: 2 }])
})

test('a claim fits beside those in flight exactly when the rule says so, a new one and one that is claimed again', async () => {
  const micro = fc.bigInt({ min: 0n, max: 40n })
  const open = fc.array(micro, { maxLength: inFlightPerPayerMax })
  let number = 100
  const seen = new Set<string>()
  const property = fc.asyncProperty(open, micro, fc.bigInt({ min: 0n, max: 200n }), fc.boolean(), async (...given) => {
    const [amounts, amountMicro, balanceMicro, again] = given
    const { payer } = sampleClaim(++number)
    const next = (change: Partial<Claim>): Claim => ({ ...sampleClaim(++number), payer, ...change })
    const claim = next({ amountMicro, quotedMicro: amountMicro, balanceMicro })
    if (again) {
      await claimAs(1n, { ...claim, balanceMicro: amountMicro })
      await endPayment(db.database, { id: claim.id, move: moves.releaseAbandoned, reason: 'test' }, Date.now())
    }
    for (const amount of amounts)
      expect(await claimAs(1n, next({ amountMicro: amount, quotedMicro: amount }))).toEqual({ status: 'claimed' })
    const outcome = again ? await reclaimReleased(db.database, claim, worker(1n)) : await claimAs(1n, claim)
    const held = { count: amounts.length, micro: amounts.reduce((sum, one) => sum + one, 0n) }
    const expected = fitsBalance(held, claim) ? 'claimed' : 'over_limit'
    seen.add(`${expected} ${held.count === inFlightPerPayerMax}`)
    expect(outcome?.status).toBe(expected)
  })
  await fc.assert(property, {
    numRuns: 60,
    examples: [
      [[10n, 5n], 5n, 20n, false],
      [[10n, 5n], 5n, 19n, false],
      [[], 5n, 4n, false],
      [Array(inFlightPerPayerMax).fill(1n), 1n, 200n, true],
      [Array(inFlightPerPayerMax - 1).fill(1n), 1n, 200n, true],
      [[10n, 5n], 5n, 19n, true],
      [[10n, 5n], 5n, 20n, true],
    ],
  })
  expect([...seen].sort()).toEqual(['claimed false', 'over_limit false', 'over_limit true'])
})
